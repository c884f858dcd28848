using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal class NameSource
{
    private readonly NameLookups _lookups;

    public NameSource() => _lookups = new NameLookups((name, family) => Lookup(name, family));

    public static NameSource System { get; } = new();

    public virtual IPAddress[] Lookup(string name, AddressFamily family) => Dns.GetHostAddresses(name, family);

    /// <summary>As <see cref="Lookup"/>, on a thread outside of the pool.</summary>
    public virtual Task<IPAddress[]> LookupAsync(string name, AddressFamily family, CancellationToken cancellation) =>
        _lookups.LookupAsync(name, family, cancellation);

    public virtual IReadOnlyList<IPAddress>? InterfaceAddresses(string name)
    {
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
