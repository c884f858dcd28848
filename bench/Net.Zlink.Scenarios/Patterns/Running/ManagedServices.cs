using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns.Ports;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>What the native program for gateways sets up, with our library: a registry and a discovery over inproc, receivers over the
/// transport, one gateway; all in one context.</summary>
internal sealed class ManagedServices : IDisposable
{
    private const string Service = "svc";
    private const string Publisher = "inproc://registry-publisher";
    private const string Router = "inproc://registry-router";

    private readonly ServiceRegistry _registry;
    private readonly RegistryDirectory _discovery;
    private readonly List<ServiceReceiver> _receivers = [];
    private readonly SocketPoller _poller = new();

    /// <param name="context">Of all.</param>
    /// <param name="receivers">How many.</param>
    /// <param name="bind">Calls what it is given with an endpoint to bind.</param>
    /// <param name="useAsServer">Sets the options of a receiver.</param>
    /// <param name="useAsClient">Sets those of the gateway.</param>
    public ManagedServices(ZlinkContext context, int receivers, Func<Func<string, string>, string> bind,
        Action<SocketOptions> useAsServer, Action<SocketOptions> useAsClient)
    {
        _registry = new ServiceRegistry(context, new ServiceRegistryOptions { PublisherEndpoint = Publisher, RouterEndpoint = Router });
        _registry.Start();
        _discovery = new RegistryDirectory(context);
        _discovery.ConnectRegistry(Publisher);
        var receiverOptions = new ServiceReceiverOptions();
        useAsServer(receiverOptions.Socket);
        for (int i = 0; i < receivers; i++)
        {
            var receiver = new ServiceReceiver(context, receiverOptions);
            _receivers.Add(receiver);
            _poller.Add(receiver.Socket, PollEvents.In);
            string endpoint = bind(receiver.Bind);
            receiver.ConnectRegistry(Router);
            _ = receiver.Register(Service, endpoint);
        }

        var gatewayOptions = new ServiceGatewayOptions { Socket = { SendTimeout = Timeout.InfiniteTimeSpan } };
        useAsClient(gatewayOptions.Socket);
        Gateway = new ServiceGateway(context, _discovery, gatewayOptions);
        Client = Gateway.GetClient(Service);
    }

    public ServiceGateway Gateway { get; }

    public ServiceClient Client { get; }

    public void MeasureFlood(IPatternRun run, bool batch) => run.Measure(
        new GatewayEnds(Client, [.. _receivers.Select(static receiver => new RouterPort(receiver.Socket, []))], _poller, batch),
        () => [Gateway.Describe(), .. _receivers.Select(static receiver => receiver.Describe())]);

    /// <summary>RequestAsync, answered by handlers that send the payload back.</summary>
    public void MeasureRequests(IPatternRun run, int size)
    {
        using var end = new CancellationTokenSource();
        foreach (ServiceReceiver receiver in _receivers)
        {
            _ = receiver.ServeAsync(
                static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation), cancellationToken: end.Token);
        }

        Settling.Until(Client, client => client.ReadyCount == _receivers.Count);
        byte[] payload = new byte[size];
        run.MeasureRoundTrips(async () =>
        {
            using ServiceReply reply = await Client.RequestAsync(payload);
            return reply.Span.Length == size;
        });
        end.Cancel();
    }

    public void Dispose()
    {
        _poller.Dispose();
        Gateway.Dispose();
        _receivers.ForEach(static receiver => receiver.Dispose());
        _discovery.Dispose();
        _registry.Dispose();
    }
}
