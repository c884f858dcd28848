using System.Buffers.Binary;
using System.Diagnostics;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>A gateway that sends requests at a steady rate, and writes down how each ended.</summary>
internal sealed class ChaosGateway : IChaosPart
{
    /// <summary>What a request may take.</summary>
    public static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(2);

    // Of so many requests the caller cancels one.
    private const int CancelledEach = 61;
    private const int MaxPadding = 1_000;

    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(3);

    private readonly RegistryDirectory _discovery;
    private readonly ServiceGateway _gateway;
    private readonly ServiceClient _client;
    private readonly ChaosSettings _settings;
    private readonly ChaosLog _log;
    private readonly CancellationTokenSource _stop = new();
    private readonly SteadyRate _rate;
    private readonly Task _asking;
    private long _answered;
    private long _outstanding;

    public ChaosGateway(ZlinkContext context, ChaosSettings settings, ChaosLog log)
    {
        (_settings, _log) = (settings, log);
        _discovery = new RegistryDirectory(context);
        foreach (string registry in settings.Publishers)
        {
            _discovery.ConnectRegistry(registry);
        }

        _gateway = new ServiceGateway(context, _discovery);
        _client = _gateway.GetClient(ChaosReceiver.Service);
        _rate = new SteadyRate(settings.Rate, sequence => _ = AskAsync(sequence));
        _asking = Task.Run(() => _rate.RunAsync(_stop.Token));
    }

    public ChaosStatus GetStatus() => new(_rate.Count, Interlocked.Read(ref _answered), _client.ReadyCount);

    public async Task StopLoadAsync()
    {
        await _stop.CancelAsync();
        await _asking;
        long start = Stopwatch.GetTimestamp();
        while (Interlocked.Read(ref _outstanding) > 0 && Stopwatch.GetElapsedTime(start) < 5 * RequestTimeout)
        {
            await Task.Delay(s_interval);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _gateway.DisposeAsync();
        await _discovery.DisposeAsync();
        _stop.Dispose();
    }

    private async Task AskAsync(uint sequence)
    {
        long id = ChaosId.Of(_settings.Number, _settings.Life, sequence);
        byte[] request = new byte[sizeof(long) + (sequence % MaxPadding)];
        BinaryPrimitives.WriteInt64LittleEndian(request, id);
        using CancellationTokenSource? cancel = sequence % CancelledEach == 0 ? new CancellationTokenSource(s_patience) : null;
        Interlocked.Increment(ref _outstanding);
        _log.Append(ChaosFact.Started, id);
        ChaosOutcome outcome;
        try
        {
            using ServiceReply reply = await _client.RequestAsync(request, RequestTimeout, cancel?.Token ?? CancellationToken.None);
            outcome = reply.Span.SequenceEqual(request) ? ChaosOutcome.Answered : ChaosOutcome.WrongReply;
        }
        catch (Exception e)
        {
            outcome = OutcomeOf(e);
        }

        _log.Append(ChaosFact.Ended, id, (int)outcome);
        if (outcome == ChaosOutcome.Answered)
        {
            Interlocked.Increment(ref _answered);
        }

        Interlocked.Decrement(ref _outstanding);
    }

    private static ChaosOutcome OutcomeOf(Exception e) => e switch
    {
        ServiceException { WasExecuted: false } => ChaosOutcome.NotExecuted,
        ServiceException { Error: ServiceError.Failed } => ChaosOutcome.Failed,
        ServiceException => ChaosOutcome.Lost,
        TimeoutException => ChaosOutcome.TimedOut,
        OperationCanceledException => ChaosOutcome.Cancelled,
        _ => ChaosOutcome.Unexpected,
    };
}
