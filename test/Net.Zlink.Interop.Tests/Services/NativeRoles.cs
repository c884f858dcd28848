using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Interop.Tests.Services;

internal sealed class NativeRegistryRole : IRegistryRole
{
    private readonly NativeContext _context = new();
    private readonly NativeRegistry _registry;

    public NativeRegistryRole(RegistryPlan plan, TestCertificates? certificates)
    {
        (Publisher, Router) = (plan.Publisher, plan.Router);
        _registry = new NativeRegistry(_context, Publisher, Router, plan.Id);
        foreach (int role in new[] { NativeRole.RegistryPublisher, NativeRole.RegistryRouter, NativeRole.RegistryPeers })
        {
            _registry.SetOption(role, NativeOption.Linger, 0);
            NativeTls.Use(certificates, (option, value) => _registry.SetOption(role, option, value));
        }

        if (plan.HeartbeatTimeout is { } timeout)
        {
            _registry.SetHeartbeatTimeout(timeout);
        }

        foreach (string peer in plan.Peers)
        {
            _registry.AddPeer(peer);
        }

        _registry.Start();
    }

    public string Publisher { get; }

    public string Router { get; }

    public void Dispose()
    {
        _registry.Dispose();
        _context.Dispose();
    }
}

internal sealed class NativeReceiverRole : IReceiverRole
{
    private readonly NativeContext _context = new();
    private readonly NativeReceiver _receiver;

    public NativeReceiverRole(string endpoint, string? routingId, IEnumerable<string> registries, TestCertificates? certificates)
    {
        _receiver = new NativeReceiver(_context, routingId);
        foreach (int role in new[] { NativeRole.ReceiverRouter, NativeRole.ReceiverDealer })
        {
            _receiver.SetOption(role, NativeOption.Linger, 0);
            NativeTls.Use(certificates, (option, value) => _receiver.SetOption(role, option, value));
        }

        Endpoint = _receiver.Bind(endpoint);
        foreach (string registry in registries)
        {
            _receiver.ConnectRegistry(registry);
        }
    }

    public string Endpoint { get; }

    public byte[] RoutingId => _receiver.RoutingId;

    public void Register(string service, uint weight = 1) => _receiver.Register(service, Endpoint, weight);

    public void UpdateWeight(string service, uint weight) => _receiver.UpdateWeight(service, weight);

    public void Unregister(string service) => _receiver.Unregister(service);

    public byte[][]? Receive(TimeSpan timeout) => _receiver.Router.Receive(timeout);

    public void Send(params byte[][] message) => _receiver.Router.Send(message, Support.Limits.Wait);

    public void Dispose()
    {
        _receiver.Dispose();

        // The end of the context waits for heartbeats that nobody took, without a limit: their socket has no option for it.
        _ = Task.Run(_context.Dispose);
    }
}

internal sealed class NativeGatewayRole : IGatewayRole
{
    private const ushort Receivers = 1;

    private readonly NativeContext _context = new();
    private readonly NativeDiscovery _discovery;
    private readonly NativeGateway _gateway;

    public NativeGatewayRole(IEnumerable<string> registries, TestCertificates? certificates, string? routingId = null)
    {
        _discovery = new NativeDiscovery(_context, Receivers);
        NativeTls.Use(certificates, _discovery.SetOption);
        _gateway = new NativeGateway(_context, _discovery, routingId);
        if (certificates is not null)
        {
            _gateway.SetTlsClient(certificates.CaFile, "localhost");
        }

        foreach (string registry in registries)
        {
            _discovery.ConnectRegistry(registry);
        }
    }

    public NativeGateway Gateway => _gateway;

    public IReadOnlyList<NativeReceiverInfo> GetReceivers(string service) => _discovery.GetReceivers(service);

    public int GetReadyCount(string service) => _gateway.GetConnectionCount(service);

    public bool Send(string service, byte[][] parts) => _gateway.Send(service, parts) is NativeSendResult.Sent;

    public bool SendTo(string service, byte[] routingId, byte[][] parts) =>
        _gateway.SendTo(service, routingId, parts) is NativeSendResult.Sent;

    public byte[][]? Receive(TimeSpan timeout) => _gateway.Router.Receive(timeout)?[1..];

    public void Dispose()
    {
        _gateway.Dispose();
        _discovery.Dispose();
        _context.Dispose();
    }
}

/// <summary>TLS of native services: what listens has a certificate, and what connects knows its authority.</summary>
internal static class NativeTls
{
    public delegate void SetOption(int option, ReadOnlySpan<byte> value);

    public static void Use(TestCertificates? certificates, SetOption set)
    {
        if (certificates is not null)
        {
            set(NativeOption.TlsCert, System.Text.Encoding.UTF8.GetBytes(certificates.CertificateFile));
            set(NativeOption.TlsKey, System.Text.Encoding.UTF8.GetBytes(certificates.KeyFile));
            set(NativeOption.TlsCa, System.Text.Encoding.UTF8.GetBytes(certificates.CaFile));
        }
    }
}
