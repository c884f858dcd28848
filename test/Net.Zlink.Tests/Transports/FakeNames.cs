using System.Net;
using System.Net.Sockets;
using Net.Zlink.Transports.Tcp;

namespace Net.Zlink.Tests.Transports;

/// <summary>Names that a test makes up, so that no name server is asked.</summary>
internal sealed class FakeNames : NameSource
{
    private readonly Dictionary<string, IPAddress[]> _hosts = new(StringComparer.Ordinal);
    private readonly Dictionary<string, IPAddress[]> _interfaces = new(StringComparer.Ordinal);

    /// <summary>What a name that is not known fails with.</summary>
    public SocketError UnknownHost { get; set; } = SocketError.HostNotFound;

    /// <summary>Names that are never answered.</summary>
    public string? Silent { get; set; }

    /// <summary>How often a host was asked for.</summary>
    public int Lookups { get; private set; }

    public FakeNames Host(string name, params string[] addresses)
    {
        _hosts[name] = [.. addresses.Select(IPAddress.Parse)];
        return this;
    }

    public FakeNames Interface(string name, params string[] addresses)
    {
        _interfaces[name] = [.. addresses.Select(IPAddress.Parse)];
        return this;
    }

    public override IPAddress[] Lookup(string name, AddressFamily family)
    {
        Lookups++;
        return _hosts.TryGetValue(name, out var addresses)
            ? [.. addresses.Where(a => family == AddressFamily.Unspecified || a.AddressFamily == family)]
            : throw new SocketException((int)UnknownHost);
    }

    public override async Task<IPAddress[]> LookupAsync(string name, AddressFamily family, CancellationToken cancellation)
    {
        if (string.Equals(name, Silent, StringComparison.Ordinal))
        {
            Lookups++;
            var never = new TaskCompletionSource<IPAddress[]>(TaskCreationOptions.RunContinuationsAsynchronously);
            await using (cancellation.Register(() => never.TrySetCanceled(cancellation)))
            {
                return await never.Task;
            }
        }

        return Lookup(name, family);
    }

    public override IReadOnlyList<IPAddress>? InterfaceAddresses(string name) => _interfaces.GetValueOrDefault(name);
}
