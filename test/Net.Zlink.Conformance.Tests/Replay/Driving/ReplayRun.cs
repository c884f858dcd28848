using Net.Zlink.Conformance.Tests.Replay.Comparing;
using Net.Zlink.Conformance.Tests.Replay.Forms;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Replay.Severing;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>One replay of one transcript against one implementation of one of its sides. Throws <see cref="ReplayFailedException"/> where
/// it does something else.</summary>
internal sealed class ReplayRun : IAsyncDisposable
{
    private readonly Transcript _transcript;
    private readonly string _implemented;
    private readonly ReplayOptions _options;
    private readonly ISeveringOracle _oracle;
    private readonly ReplayClock _clock = new();
    private readonly WireForm _form;
    private readonly PlayedNetwork _network;
    private readonly IImplementedSide _side;
    private readonly Stillness _stillness;
    private readonly PlayedSender _sender;
    private readonly StepActions _actions;
    private readonly WireCheck _wire;
    private readonly DeliveryCheck _deliveries;
    private readonly EventCheck _events;

    private ReplayRun(Transcript transcript, string implemented, SideAdapter adapter, ReplayOptions options)
    {
        (_transcript, _implemented, _options, _oracle) = (transcript, implemented, options, adapter.Severing);
        var random = new RandomValues();
        _form = WireForm.For(transcript, implemented, random);
        bool kinds = transcript.Delivered.Any(message => message.Kind is not null);
        bool inMemory = adapter.RunsInMemory && !transcript.IsWs; // A ws connection is read and written by threads of the pool.
        _side = adapter.Create(new SideRequest(transcript.Sides[implemented], _clock.Provider, kinds, inMemory));
        if (inMemory)
        {
            _network = new MemoryNetwork(transcript, implemented, _clock);
            _stillness = new MemoryStillness(_network, _side);
        }
        else
        {
            var network = new TcpNetwork(transcript, implemented, _clock);
            _network = network;
            _stillness = new KernelStillness(network, _side, options.Guard);
        }

        _sender = new PlayedSender(options, _stillness);
        _deliveries = new DeliveryCheck(_side, random, _stillness);
        _actions = new StepActions(transcript, implemented, _side, _network, _stillness, _clock, _deliveries, random, SpeaksFirst(adapter),
            options.Guard);
        _wire = new WireCheck(transcript, implemented, _network, _form);
        _events = new EventCheck(_side, _network, random, _stillness);
    }

    /// <param name="transcript">The conversation, with our differences applied.</param>
    /// <param name="implemented">The side that the implementation takes; all others are played.</param>
    /// <param name="adapter">How the implementation takes it.</param>
    /// <param name="options">The variant, and the cut of a severed run.</param>
    public static async Task PlayAsync(Transcript transcript, string implemented, SideAdapter adapter, ReplayOptions options)
    {
        var run = new ReplayRun(transcript, implemented, adapter, options);
        try
        {
            await run.PlayAsync();
        }
        finally
        {
            await run.DisposeAsync();
        }

        if (run._side.GetOutstandingBuffers() is { Count: > 0 } left)
        {
            throw new ReplayFailedException($"{left.Count} rented buffers never came back: {string.Join("; ", left)}");
        }
    }

    /// <summary>What there is to say of a difference that we should make, when all before it was right.</summary>
    public static string Words(Difference undecided) =>
        $"all is right up to step {undecided.Step}; from there on the file advises a difference (\"{undecided.What}\"), and no row says "
        + $"what we do";

    private async Task PlayAsync()
    {
        for (int step = 0; step < _transcript.Steps.Count; step++)
        {
            if (step == _transcript.Undecided?.Step)
            {
                throw new ReplayFailedException(Words(_transcript.Undecided));
            }

            await _actions.DoAsync(step);
            await PlayRecordsAsync(step);
            if (_sender.IsCut)
            {
                await EndSeveredAsync(step);
                return;
            }

            await _deliveries.AwaitAsync(Deliveries(step));
            await _events.AwaitCountAsync(ExpectedEvents().Count(expected => expected.Step <= step), step);
            if (_options.Cut is null || SendsNext(step))
            {
                // A severed run has been through this in full before: there only the end matters, and that what is sent next finds the
                // subscriptions that came before.
                await _stillness.WaitAsync();
            }

            _wire.CheckStep(step);
            if (_options.Cut is null)
            {
                _deliveries.NothingMore(step);
            }
        }

        if (_options.Cut is { } cut)
        {
            throw new InvalidOperationException($"byte {cut.Bytes} of connection {cut.Connection} was never sent");
        }

        _events.Complete([.. ExpectedEvents()]);
        if (_network.Seen is { } seen && seen != (_transcript.ConnectionsSeen ?? _network.Connections.Count))
        {
            throw new ReplayFailedException(
                $"{seen} connections came, the file says {_transcript.ConnectionsSeen ?? _network.Connections.Count}");
        }
    }

    private async Task PlayRecordsAsync(int step)
    {
        var pump = new RecordPump(_transcript, _implemented, step, _network, _sender, _form, _clock, _options);
        await pump.AdvanceAsync(timeIsUp: false);
        foreach (TranscriptAction idle in _transcript.Actions.Where(
            action => action.Step == step && action.Kind is ActionKind.Idle && !_sender.IsCut))
        {
            await PumpAsync(pump, step, timeIsUp: false, () => !pump.WaitsForWord);
            await SettleAsync(pump);
            await IdleAsync(pump, idle.Milliseconds);
        }

        await PumpAsync(pump, step, timeIsUp: true, () => pump.IsDone);
    }

    private async Task PumpAsync(RecordPump pump, int step, bool timeIsUp, Func<bool> isEnough)
    {
        while (!_sender.IsCut)
        {
            Task change = _network.Changed.Next;
            await pump.AdvanceAsync(timeIsUp);
            if (isEnough() || _sender.IsCut)
            {
                return;
            }

            if (!await _stillness.IsChangedAsync(change))
            {
                throw new ReplayFailedException($"step {step}: {pump.Missing()}");
            }
        }
    }

    /// <summary>Plays all that needs no time.</summary>
    private async Task SettleAsync(RecordPump pump)
    {
        long before;
        do
        {
            before = _network.Connections.Sum(connection => (long)connection.SentCount);
            await _stillness.WaitAsync();
            await pump.AdvanceAsync(timeIsUp: false);
        }
        while (!_sender.IsCut && _network.Connections.Sum(connection => (long)connection.SentCount) != before);
    }

    /// <summary>Moves the clock on; where timers decide in small steps, so that what they cause happens at its time.</summary>
    private async Task IdleAsync(RecordPump pump, int milliseconds)
    {
        long end = _clock.Elapsed + milliseconds;
        while (_clock.Elapsed < end && !_sender.IsCut)
        {
            long next = _transcript.Timed ? Math.Min(end, _clock.Elapsed + ReplayClock.Slice) : end;
            if (pump.NextDue is { } due && due > _clock.Elapsed)
            {
                next = Math.Min(next, due);
            }

            _clock.Advance(next - _clock.Elapsed);
            if (pump.IsDone)
            {
                await _stillness.IdleAsync();
            }
            else
            {
                await SettleAsync(pump);
            }
        }
    }

    private async Task EndSeveredAsync(int step)
    {
        Cut cut = _options.Cut!.Value;
        PlayedConnection connection = _network.Get(cut.Connection);
        SeveredOutcome outcome = _oracle.Expect(_form.Unwrap(SeveredRuns.Describe(_transcript, _implemented, step, cut)));
        await _deliveries.AwaitInterleavedAsync(outcome.Delivered, step);
        if (outcome.Events is not null)
        {
            await _events.AwaitCountAsync(outcome.Events.Count, step);
        }

        await _stillness.WaitAsync();
        _deliveries.NothingMore(step);
        _wire.CheckPrefix(connection, step);
        if (outcome.Events is not null)
        {
            _events.Complete(outcome.Events);
        }
    }

    public async ValueTask DisposeAsync()
    {
        _network.Dispose(); // First: an orderly close waits for the other side's end.
        try
        {
            await _side.DisposeAsync().AsTask().WaitAsync(_options.Guard);
        }
        catch (TimeoutException)
        {
            throw new ReplayFailedException("the implementation could not be disposed of");
        }
    }

    /// <summary>On ws the side that connects asks for the upgrade, whatever its type, and the other one has nothing to say
    /// before.</summary>
    private bool SpeaksFirst(SideAdapter adapter) => _transcript.IsWs ? _transcript.Sides[_implemented].Role is SideRole.Connect
        : adapter.SpeaksFirst;

    private bool SendsNext(int step)
        => _transcript.Sent.Any(message => message.Step == step + 1 && string.Equals(message.At, _implemented, StringComparison.Ordinal));

    private IEnumerable<DeliveredMessage> Deliveries(int step)
        => _transcript.Delivered.Where(message => message.Step == step
            && string.Equals(message.At, _implemented, StringComparison.Ordinal));

    /// <summary>The events of the implementation's monitor; none when it has no monitor.</summary>
    private IEnumerable<MonitorEvent> ExpectedEvents()
        => (_transcript.Events ?? []).Where(expected => string.Equals(expected.At, _implemented, StringComparison.Ordinal));
}
