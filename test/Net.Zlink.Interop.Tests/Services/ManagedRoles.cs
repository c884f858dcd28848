using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Interop.Tests.Services;

internal sealed class ManagedRegistryRole : IRegistryRole
{
    private readonly ZlinkContext _context = new();
    private readonly ServiceRegistry _registry;

    public ManagedRegistryRole(RegistryPlan plan, TestCertificates? certificates)
    {
        var options = new ServiceRegistryOptions
        {
            PublisherEndpoint = plan.Publisher,
            RouterEndpoint = plan.Router,
            Id = plan.Id == 0 ? null : plan.Id,
            Peers = [.. plan.Peers],
        };
        ManagedTls.Use(certificates, options.PublisherSocket);
        ManagedTls.Use(certificates, options.RouterSocket);
        ManagedTls.Use(certificates, options.PeerSocket);
        options.HeartbeatTimeout = plan.HeartbeatTimeout ?? options.HeartbeatTimeout;
        _registry = new ServiceRegistry(_context, options);
        _registry.Start();
    }

    public string Publisher => _registry.PublisherEndpoint;

    public string Router => _registry.RouterEndpoint;

    public void Dispose()
    {
        _registry.DisposeAsync().AsTask().Guarded().GetAwaiter().GetResult();
        _context.Dispose();
    }
}

internal sealed class ManagedReceiverRole : IReceiverRole
{
    private readonly ZlinkContext _context = new();
    private readonly ServiceReceiver _receiver;
    private readonly Dictionary<string, ServiceRegistration> _registrations = new(StringComparer.Ordinal);

    public ManagedReceiverRole(string endpoint, string? routingId, IEnumerable<string> registries, TestCertificates? certificates)
    {
        var options = new ServiceReceiverOptions();
        if (routingId is not null)
        {
            options.Socket.RoutingId = Zlink.RoutingId.FromText(routingId);
        }

        ManagedTls.Use(certificates, options.Socket);
        ManagedTls.Use(certificates, options.RegistrySocket);
        _receiver = new ServiceReceiver(_context, options);
        RoutingId = _receiver.RoutingId.Span.ToArray();
        Endpoint = _receiver.Bind(endpoint);
        foreach (string registry in registries)
        {
            _receiver.ConnectRegistry(registry);
        }
    }

    public string Endpoint { get; }

    public byte[] RoutingId { get; }

    public ServiceReceiver Receiver => _receiver;

    public void Register(string service, uint weight = 1) =>
        _registrations[service] = _receiver.RegisterAsync(service, Endpoint, weight, Limits.Token).Guarded().GetAwaiter().GetResult();

    public void UpdateWeight(string service, uint weight) =>
        _registrations[service].UpdateWeightAsync(weight, Limits.Token).Guarded().GetAwaiter().GetResult();

    public void Unregister(string service) => _registrations[service].DisposeAsync().AsTask().Guarded().GetAwaiter().GetResult();

    public byte[][]? Receive(TimeSpan timeout)
    {
        if (!_receiver.Socket.TryReceive(out Message message, timeout))
        {
            return null;
        }

        using (message)
        {
            return [message.RoutingId.Span.ToArray(), .. message.ToArrays()];
        }
    }

    public void Send(params byte[][] message)
    {
        using var parts = new MessageBuilder(_context.Pool);
        foreach (byte[] part in message.AsSpan(1))
        {
            parts.Add(part);
        }

        _receiver.Socket.To(message[0]).Send(parts);
    }

    public void Dispose()
    {
        _receiver.DisposeAsync().AsTask().Guarded().GetAwaiter().GetResult();
        _context.Dispose();
    }
}

internal sealed class ManagedGatewayRole : IGatewayRole
{
    private readonly ZlinkContext _context = new();
    private readonly RegistryDirectory _discovery;
    private readonly ServiceGateway _gateway;

    public ManagedGatewayRole(IEnumerable<string> registries, TestCertificates? certificates)
    {
        var discoveryOptions = new RegistryDirectoryOptions();
        ManagedTls.Use(certificates, discoveryOptions.Socket);
        _discovery = new RegistryDirectory(_context, options: discoveryOptions);
        var gatewayOptions = new ServiceGatewayOptions();
        ManagedTls.Use(certificates, gatewayOptions.Socket);
        _gateway = new ServiceGateway(_context, _discovery, gatewayOptions);
        foreach (string registry in registries)
        {
            _discovery.ConnectRegistry(registry);
        }
    }

    public IReadOnlyList<NativeReceiverInfo> GetReceivers(string service) => [.. _discovery.GetService(service).Instances
        .Select(static instance => new NativeReceiverInfo(instance.Endpoint, instance.RoutingId.Span.ToArray(), instance.Weight))];

    public int GetReadyCount(string service) => _gateway.GetClient(service).ReadyCount;

    public bool Send(string service, byte[][] parts) =>
        Send(parts, builder => _gateway.GetClient(service).TrySend(builder));

    public bool SendTo(string service, byte[] routingId, byte[][] parts) =>
        Send(parts, builder => _gateway.GetClient(service).To(new RoutingId(routingId)).TrySend(builder));

    public byte[][]? Receive(TimeSpan timeout)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(Limits.Token);
        limit.CancelAfter(timeout);
        try
        {
            using GatewayMessage message = _gateway.ReceiveAsync(limit.Token).AsTask().GetAwaiter().GetResult();
            return message.Message.ToArrays();
        }
        catch (OperationCanceledException) when (!Limits.Token.IsCancellationRequested)
        {
            return null;
        }
    }

    public void Dispose()
    {
        _gateway.DisposeAsync().AsTask().Guarded().GetAwaiter().GetResult();
        _discovery.DisposeAsync().AsTask().Guarded().GetAwaiter().GetResult();
        _context.Dispose();
    }

    private bool Send(byte[][] parts, Func<MessageBuilder, SendResult> send)
    {
        using var builder = new MessageBuilder(_context.Pool);
        Array.ForEach(parts, part => builder.Add(part));
        return send(builder).Reason switch
        {
            SendFailure.None => true,
            SendFailure.NoPeer => false,
            SendFailure reason => throw new InvalidOperationException($"The gateway refused a message: {reason}."),
        };
    }
}

/// <summary>TLS of our services: what listens has a certificate, and what connects knows its authority.</summary>
internal static class ManagedTls
{
    public static void Use(TestCertificates? certificates, SocketOptions options)
    {
        if (certificates is not null)
        {
            (options.Tls.CertificateFile, options.Tls.KeyFile) = (certificates.CertificateFile, certificates.KeyFile);
            (options.Tls.CaFile, options.Tls.TrustSystem) = (certificates.CaFile, false);
        }
    }
}
