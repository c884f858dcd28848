using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>How a registry of either kind is made.</summary>
/// <param name="Publisher">Where discoveries connect.</param>
/// <param name="Router">Where receivers connect.</param>
/// <param name="Id">0: a random one.</param>
internal sealed record RegistryPlan(string Publisher, string Router, uint Id = 0)
{
    public IReadOnlyList<string> Peers { get; init; } = [];

    /// <summary>Null: 15 s.</summary>
    public TimeSpan? HeartbeatTimeout { get; init; }
}

/// <summary>Makes services of either kind over one transport, and ends them in the opposite order.</summary>
internal sealed class ServiceScene(TestTransport transport = TestTransport.Tcp) : IDisposable
{
    private readonly TestCertificates? _certificates = transport is TestTransport.Tls or TestTransport.Wss ? new TestCertificates() : null;
    private readonly List<IDisposable> _parts = [];
    private readonly List<string> _files = [];

    /// <summary>An endpoint that nobody else has, with its port.</summary>
    public string NewEndpoint()
    {
        if (transport is not TestTransport.Ipc)
        {
            return $"{transport.ToString().ToLowerInvariant()}://127.0.0.1:{FreePort.Next()}"
                + (transport is TestTransport.Ws or TestTransport.Wss ? "/path" : "");
        }

        // Short: a path of more than 107 bytes is no ipc endpoint.
        _files.Add(Path.Combine(Path.GetTempPath(), $"zs-{Guid.NewGuid():N}"));
        return $"ipc://{_files[^1]}";
    }

    public RegistryPlan NewRegistryPlan(uint id = 0) => new(NewEndpoint(), NewEndpoint(), id);

    public IRegistryRole AddRegistry(PeerKind kind, RegistryPlan? plan = null)
    {
        plan ??= NewRegistryPlan();
        return Add<IRegistryRole>(kind is PeerKind.Native ? new NativeRegistryRole(plan, _certificates)
            : new ManagedRegistryRole(plan, _certificates));
    }

    /// <summary>A receiver that is bound and connected to the registries, not registered.</summary>
    public IReceiverRole AddReceiver(PeerKind kind, string? routingId, params IRegistryRole[] registries) =>
        AddReceiverAt(kind, NewEndpoint(), routingId, registries);

    public IReceiverRole AddReceiverAt(PeerKind kind, string endpoint, string? routingId, params IRegistryRole[] registries)
    {
        string[] routers = [.. registries.Select(static registry => registry.Router)];
        return Add<IReceiverRole>(kind is PeerKind.Native ? new NativeReceiverRole(endpoint, routingId, routers, _certificates)
            : new ManagedReceiverRole(endpoint, routingId, routers, _certificates));
    }

    public IGatewayRole AddGateway(PeerKind kind, params IRegistryRole[] registries)
    {
        string[] publishers = [.. registries.Select(static registry => registry.Publisher)];
        return Add<IGatewayRole>(kind is PeerKind.Native ? new NativeGatewayRole(publishers, _certificates)
            : new ManagedGatewayRole(publishers, _certificates));
    }

    /// <summary>Ends it with the others.</summary>
    public T Own<T>(T part)
        where T : IDisposable => Add(part);

    /// <summary>Ends one of its parts before the others.</summary>
    public void End(IDisposable part)
    {
        _parts.Remove(part);
        part.Dispose();
    }

    public void Dispose()
    {
        for (int i = _parts.Count - 1; i >= 0; i--)
        {
            _parts[i].Dispose();
        }

        _certificates?.Dispose();
        _files.ForEach(File.Delete);
    }

    private T Add<T>(T part)
        where T : IDisposable
    {
        _parts.Add(part);
        return part;
    }
}
