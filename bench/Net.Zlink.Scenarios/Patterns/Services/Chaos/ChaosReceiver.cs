using System.Buffers.Binary;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>A receiver that writes down what it executes, before it does. Those with an even number receive by hand.</summary>
internal sealed class ChaosReceiver : IChaosPart
{
    public const string Service = "chaos";

    // Of so many requests one is slow, and one fails.
    private const int SlowEach = 50;
    private const int FailingEach = 97;

    private static readonly TimeSpan s_slow = TimeSpan.FromMilliseconds(200);

    private readonly ServiceReceiver _receiver;
    private readonly ServiceRegistration _registration;
    private readonly ChaosLog _log;
    private readonly int _number;
    private readonly Task _serving;
    private long _executed;
    private long _answered;

    public ChaosReceiver(ZlinkContext context, ChaosSettings settings, ChaosLog log)
    {
        _log = log;
        _number = settings.Number;
        _receiver = new ServiceReceiver(context);
        _receiver.Bind(settings.Endpoint);
        foreach (string registry in settings.Routers)
        {
            _receiver.ConnectRegistry(registry);
        }

        _serving = _number % 2 == 0 ? ReceiveAsync() : _receiver.ServeAsync(ExecuteAsync);
        _registration = _receiver.Register(Service);
    }

    public ChaosStatus GetStatus() => new(Interlocked.Read(ref _executed), Interlocked.Read(ref _answered),
        _registration.GetRegistries().Count(static registry => registry.State == RegistrationState.Registered));

    /// <summary>Goes out of service.</summary>
    public Task StopLoadAsync() => _receiver.DrainAsync();

    public async ValueTask DisposeAsync()
    {
        await _receiver.DisposeAsync();
        await _serving.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private async Task ReceiveAsync()
    {
        await foreach (ServiceRequest request in _receiver.ReceiveAllAsync())
        {
            _ = ExecuteByHandAsync(request);
        }
    }

    /// <summary>Code that throws disposes the request without an answer.</summary>
    private async Task ExecuteByHandAsync(ServiceRequest request)
    {
        using (request)
        {
            try
            {
                await ExecuteAsync(request, request.CancellationToken);
            }
            catch (Exception e) when (e is InvalidDataException or OperationCanceledException or ZlinkException or ObjectDisposedException)
            {
                // It has no answer to give.
            }
        }
    }

    private async ValueTask ExecuteAsync(ServiceRequest request, CancellationToken cancellation)
    {
        long id = BinaryPrimitives.ReadInt64LittleEndian(request.Span);
        _log.Append(ChaosFact.Executed, id, _number);
        Interlocked.Increment(ref _executed);
        uint sequence = ChaosId.SequenceOf(id);
        if (sequence % FailingEach == 0)
        {
            throw new InvalidDataException("one that fails");
        }

        if (sequence % SlowEach == 0)
        {
            await Task.Delay(s_slow, cancellation);
        }

        await request.ReplyAsync(request.Memory, cancellation);
        Interlocked.Increment(ref _answered);
    }
}
