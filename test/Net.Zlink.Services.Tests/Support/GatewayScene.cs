using System.Text;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Services.Tests;

/// <summary>A gateway, the directory that a test fills for it, and raw ROUTERs or receivers that serve.</summary>
internal sealed class GatewayScene : IAsyncDisposable
{
    public const string Service = "svc";

    private readonly List<ServiceInstance> _instances = [];

    public GatewayScene(ServiceGatewayOptions? options = null, ManualTimeProvider? time = null)
    {
        Fixture = new ContextFixture(time: time);
        options ??= new ServiceGatewayOptions();

        if (time is not null)
        {
            options.Socket.HeartbeatInterval = TimeSpan.Zero; // A clock that is moved by seconds at once leaves no time for answers.
        }

        Gateway = new ServiceGateway(Fixture.Context, Directory, options);
        Client = Gateway.GetClient(Service);
    }

    public ContextFixture Fixture { get; }

    public StaticDirectory Directory { get; } = new();

    public ServiceGateway Gateway { get; }

    public ServiceClient Client { get; }

    /// <summary>A raw ROUTER that is listed with this id and weight. Ready when the task completes.</summary>
    public async Task<(
        RouterSocket Socket, string Endpoint)> AddRawAsync(
            string id, uint weight = 1, string bind = "tcp://127.0.0.1:*", Action<RouterOptions>? configure = null)
    {
        var options = new RouterOptions { Linger = TimeSpan.Zero };
        configure?.Invoke(options);
        RouterSocket socket = Fixture.Own(Fixture.Context.CreateRouter(options));
        string endpoint = socket.Bind(bind);
        List(endpoint, id, weight);
        await UntilReadyAsync(_instances.Count);
        return (socket, endpoint);
    }

    /// <summary>The same, where others that are listed are not to become ready.</summary>
    public async Task AddRawOnlyAsync(string id)
    {
        RouterSocket socket = Fixture.Own(Fixture.Context.CreateRouter(new RouterOptions { Linger = TimeSpan.Zero }));
        List(socket.Bind("tcp://127.0.0.1:*"), id);
        await UntilReadyAsync(1);
    }

    /// <summary>A receiver that serves with this handler.</summary>
    public async Task<(
        ServiceReceiver Receiver, string Endpoint)> AddServingAsync(
            string id, Func<ServiceRequest, CancellationToken, ValueTask> handler, int maxConcurrency = 64)
    {
        ServiceReceiver receiver = Fixture.Own(new ServiceReceiver(Fixture.Context));
        string endpoint = receiver.Bind("tcp://127.0.0.1:*");
        _ = receiver.ServeAsync(handler, maxConcurrency, Guard.Token);
        List(endpoint, id);
        await UntilReadyAsync(_instances.Count);
        return (receiver, endpoint);
    }

    /// <summary>The same, where others that are listed are not ready.</summary>
    public async Task AddServingOnlyAsync(string id, Func<ServiceRequest, CancellationToken, ValueTask> handler)
    {
        ServiceReceiver receiver = Fixture.Own(new ServiceReceiver(Fixture.Context));
        List(receiver.Bind("tcp://127.0.0.1:*"), id);
        _ = receiver.ServeAsync(handler, cancellationToken: Guard.Token);
        await UntilReadyAsync(1);
    }

    public void List(string endpoint, string id, uint weight = 1)
    {
        _instances.RemoveAll(instance => string.Equals(instance.Endpoint, endpoint, StringComparison.Ordinal));
        _instances.Add(new ServiceInstance(Service, endpoint) { RoutingId = RoutingId.FromText(id), Weight = weight });
        Directory.SetService(Service, _instances);
    }

    public void Unlist(string endpoint)
    {
        _instances.RemoveAll(instance => string.Equals(instance.Endpoint, endpoint, StringComparison.Ordinal));
        Directory.SetService(Service, _instances);
    }

    public async Task UntilReadyAsync(int receivers) => await Client.WaitUntilReadyAsync(receivers, Guard.Token).Guarded();

    public async Task UntilReadyIsAsync(int receivers) => await Fixture.UntilAsync(() => Client.ReadyCount == receivers);

    /// <summary>Asks and gives the reply as text.</summary>
    public async Task<string> AskAsync(string text, TimeSpan? timeout = null)
    {
        using ServiceReply reply = await Client.RequestAsync(Encoding.UTF8.GetBytes(text), timeout ?? Guard.Limit, Guard.Token).Guarded();
        return Encoding.UTF8.GetString(reply.Span);
    }

    public static async Task<string> ReceiveTextAsync(RouterSocket socket)
    {
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        return string.Join('|', message.ToArrays().Select(Encoding.UTF8.GetString));
    }

    public async ValueTask DisposeAsync()
    {
        await Gateway.DisposeAsync().Guarded();
        await Fixture.DisposeAsync();
    }
}
