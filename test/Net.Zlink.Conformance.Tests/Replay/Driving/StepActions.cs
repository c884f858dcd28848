using Net.Zlink.Conformance.Tests.Replay.Comparing;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>Does the actions of a step in the order of the list, and lets the implementation's application send.</summary>
internal sealed class StepActions(
    Transcript transcript, string implemented, IImplementedSide side, PlayedNetwork network, Stillness stillness, ReplayClock clock,
        DeliveryCheck deliveries, RandomValues random, bool speaksFirst, TimeSpan guard)
{
    public async Task DoAsync(int step)
    {
        foreach (TranscriptAction action in transcript.Actions.Where(action => action.Step == step && action.Kind is not ActionKind.Idle))
        {
            bool ours = string.Equals(action.At, implemented, StringComparison.Ordinal);
            bool live = action.Connection == 0 || network.IsLive(action.Connection);
            if (live && action.Kind is ActionKind.Connect or ActionKind.Accept or ActionKind.Cut)
            {
                await ConnectionActionAsync(action, ours);
            }
            else if (ours)
            {
                OwnAction(action);
            }
            else if (action.Kind is ActionKind.Bind)
            {
                network.Listen();
            }
            else if (action.Kind is ActionKind.Close)
            {
                network.StopListening(); // Its connections end where the records say so.
            }
        }

        Send(step);
        await TakeConnectionsAsync(step);
    }

    private void OwnAction(TranscriptAction action)
    {
        switch (action.Kind)
        {
            case ActionKind.Monitor:
                side.OpenMonitor();
                break;
            case ActionKind.Bind:
                network.ImplementationIsAt(side.Bind(network.BindText(transcript.Sides[implemented])));
                break;
            case ActionKind.Set:
                side.Set(action.Option!);
                break;
            case ActionKind.Subscribe:
                side.Subscribe(action.Topic);
                break;
            case ActionKind.Unsubscribe:
                side.Unsubscribe(action.Topic);
                break;
            case ActionKind.Close:
                side.Close();
                deliveries.SocketClosed();
                break;
        }
    }

    private async Task ConnectionActionAsync(TranscriptAction action, bool ours)
    {
        switch (action.Kind)
        {
            case ActionKind.Connect when ours:
                side.Connect(network.ConnectText(transcript.Sides[implemented]));
                break;
            case ActionKind.Accept when ours:
                await stillness.WaitAsync(); // The played side comes back once the loss was noticed, not before.
                await PlayConnectAsync(action.Connection);
                break;
            case ActionKind.Connect:
                await PlayConnectAsync(action.Connection);
                break;
            case ActionKind.Accept:
                await AcceptAsync(action);
                break;
            case ActionKind.Cut:
                await AwaitFirstWordAsync(network.Get(action.Connection));
                await stillness.DropAsync(network.Get(action.Connection), action.Cut);
                break;
        }
    }

    private void Send(int step)
    {
        foreach (SentMessage message in transcript.Sent.Where(
            message => message.Step == step && string.Equals(message.At, implemented, StringComparison.Ordinal)))
        {
            byte[][] parts = [.. message.Parts.Select(
                (bytes, part) => random.Fill(bytes, message.Random.Where(field => field.Part == part)))];
            string? error = side.Send(parts);
            if (!string.Equals(error, message.Error, StringComparison.Ordinal))
            {
                throw new ReplayFailedException(
                    $"step {step}: send ended with {error ?? "success"}, the file says {message.Error ?? "success"}");
            }
        }
    }

    /// <summary>A played side that binds has no accept action for a connection that a connect action opens: it is taken here.</summary>
    private async Task TakeConnectionsAsync(int step)
    {
        foreach (TranscriptAction connect in transcript.Actions.Where(
            action => action.Step == step && action.Kind is ActionKind.Connect
            && string.Equals(action.At, implemented, StringComparison.Ordinal)))
        {
            bool accepted = transcript.Actions.Any(action => action.Kind is ActionKind.Accept && action.Connection == connect.Connection);
            if (!accepted && network.Find(connect.Connection) is null)
            {
                await AcceptAsync(connect);
            }
        }
    }

    private async Task AcceptAsync(TranscriptAction action)
    {
        int left = action.WithinMs ?? 0;
        bool isLate = false;
        while (true)
        {
            Task change = network.Changed.Next;
            if (network.TryAccept(action.Connection, action.Unrecorded))
            {
                return;
            }

            if (left > 0)
            {
                await stillness.WaitAsync();
                if (network.TryAccept(action.Connection, action.Unrecorded))
                {
                    return;
                }

                int slice = Math.Min(ReplayClock.Slice, left);
                left -= slice;
                clock.Advance(slice);
                await stillness.WaitAsync();
                continue;
            }

            if (await stillness.IsChangedAsync(change))
            {
                continue;
            }

            if (isLate || stillness.KnowsOfEnds || action.WithinMs is not { } within)
            {
                throw new ReplayFailedException($"step {action.Step}: connection {action.Connection} never came");
            }

            // On a busy machine the time may have been over before the implementation noticed the end of the connection before.
            isLate = true;
            left = within;
        }
    }

    private async Task AwaitFirstWordAsync(PlayedConnection connection)
    {
        while (speaksFirst)
        {
            Task change = network.Changed.Next;
            connection.Drain();
            if (connection.ReceivedCount > 0 || connection.End is not null)
            {
                return;
            }

            if (!await stillness.IsChangedAsync(change))
            {
                throw new ReplayFailedException($"{implemented} said nothing on connection {connection.Number}");
            }
        }
    }

    private async Task PlayConnectAsync(int connection)
    {
        using var deadline = new CancellationTokenSource(guard);
        await network.ConnectAsync(connection, deadline.Token);
    }
}
