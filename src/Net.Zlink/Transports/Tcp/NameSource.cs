using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>Where names come from: the system's resolver and its network interfaces. Tests put their own in its place.</summary>
internal class NameSource
{
    private readonly NameLookups _lookups;

    /// <summary>A source that asks the system.</summary>
    public NameSource() => _lookups = new NameLookups((name, family) => Lookup(name, family));

    /// <summary>The system's.</summary>
    public static NameSource System { get; } = new();

    /// <summary>The addresses of a host, in the resolver's order. Blocks the caller while the resolver asks the network.</summary>
    /// <exception cref="SocketException">There is no such name, or no answer.</exception>
    public virtual IPAddress[] Lookup(string name, AddressFamily family) => Dns.GetHostAddresses(name, family);

    /// <summary>The addresses of a host, in the resolver's order: a <see cref="Lookup"/> on another thread, which is none of the pool's.
    /// Those who ask for one name at once share it.</summary>
    /// <exception cref="SocketException">There is no such name, or no answer.</exception>
    public virtual Task<IPAddress[]> LookupAsync(string name, AddressFamily family, CancellationToken cancellation) =>
        _lookups.LookupAsync(name, family, cancellation);

    /// <summary>The addresses of the network interface of that name; null when there is none.</summary>
    public virtual IReadOnlyList<IPAddress>? InterfaceAddresses(string name)
    {
        // Windows shows interface names to people and compares them as people do.
        var comparison = OperatingSystem.IsWindows() ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal;
        try
        {
            foreach (var candidate in NetworkInterface.GetAllNetworkInterfaces())
            {
                if (string.Equals(candidate.Name, name, comparison))
                {
                    return [.. candidate.GetIPProperties().UnicastAddresses.Select(static unicast => unicast.Address)];
                }
            }
        }
        catch (Exception e) when (e is NetworkInformationException or PlatformNotSupportedException)
        {
            // A system that does not tell its interfaces has none that could be named.
        }

        return null;
    }
}
