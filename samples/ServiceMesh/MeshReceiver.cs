using Net.Zlink;
using Net.Zlink.Services;

namespace ServiceMesh;

/// <summary>A receiver that doubles numbers, registered at every registry.</summary>
internal sealed class MeshReceiver : IAsyncDisposable
{
    // One request of these is not answered with --break lost-request: late enough to be in the middle of the demo's first step.
    private const int LostRequest = 100;

    private readonly ServiceReceiver _receiver;
    private readonly ServiceRegistration _registration;
    private readonly bool _losesRequest;
    private long _handled;

    public MeshReceiver(ZlinkContext context, RoleSettings settings)
    {
        _losesRequest = settings.LosesRequest;
        _receiver = new ServiceReceiver(context, new ServiceReceiverOptions
        {
            HeartbeatInterval = TimeSpan.FromSeconds(1),
            RegistrySocket = { ReconnectInterval = TimeSpan.FromMilliseconds(100) },
        });
        _receiver.Bind(settings.Endpoint);
        foreach (string registry in settings.Others)
        {
            _receiver.ConnectRegistry(registry);
        }

        _ = _receiver.ServeAsync(HandleAsync);
        _registration = _receiver.Register(Role.ServiceName);
    }

    public RoleStatus GetStatus() => new()
    {
        Requests = Interlocked.Read(ref _handled),
        Connected = _registration.GetRegistries().Count(static status => status.State == RegistrationState.Registered),
    };

    /// <summary>"drain": returns when no request is left.</summary>
    public Task ObeyAsync(string line) => _receiver.DrainAsync();

    public ValueTask DisposeAsync() => _receiver.DisposeAsync();

    private ValueTask HandleAsync(ServiceRequest request, CancellationToken cancellation)
    {
        if (Interlocked.Increment(ref _handled) == LostRequest && _losesRequest)
        {
            return new ValueTask(Task.Delay(Timeout.InfiniteTimeSpan, cancellation));
        }

        return request.ReplyAsync(BitConverter.GetBytes(2 * BitConverter.ToInt64(request.Span)), cancellation);
    }
}
