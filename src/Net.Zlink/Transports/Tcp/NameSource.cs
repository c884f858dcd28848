using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>The source of names: the system's resolver and network interfaces, or a test's.</summary>
internal class NameSource
{
    private readonly NameLookups _lookups;

    public NameSource() => _lookups = new NameLookups((name, family) => Lookup(name, family));

    public static NameSource System { get; } = new();

    /// <summary>The addresses of a host in the resolver's order. Blocks.</summary>
    /// <exception cref="SocketException">There is no such name, or no answer.</exception>
    public virtual IPAddress[] Lookup(string name, AddressFamily family) => Dns.GetHostAddresses(name, family);

    /// <summary>As <see cref="Lookup"/>, on a thread outside of the pool. Concurrent callers of one name share it.</summary>
    /// <exception cref="SocketException">There is no such name, or no answer.</exception>
    public virtual Task<IPAddress[]> LookupAsync(string name, AddressFamily family, CancellationToken cancellation) =>
        _lookups.LookupAsync(name, family, cancellation);

    /// <summary>The addresses of a network interface, or null.</summary>
    public virtual IReadOnlyList<IPAddress>? InterfaceAddresses(string name)
    {
        // Windows has display names, without case.
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
            // A system that does not list its interfaces has none with a name.
        }

        return null;
    }
}
