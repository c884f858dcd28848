using Net.Zlink.Flow;

namespace Net.Zlink;

/// <summary>A socket of a poller, and what is asked of it.</summary>
internal sealed class PollItem(ZlinkSocket socket, PollEvents events, object? state)
{
    public PollResult ResultOf(PollEvents ready) => new() { Socket = socket, Events = ready, UserState = state };

    public PollItem With(PollEvents other) => new(socket, other, state);

    public PollEvents Check()
    {
        socket.ThrowIfEnded();
        PollEvents ready = Asks(PollEvents.In) && socket.CanReceive ? PollEvents.In : PollEvents.None;
        return Asks(PollEvents.Out) && socket.CanSend ? ready | PollEvents.Out : ready;
    }

    public bool Recheck() => Asks(PollEvents.In) && socket.Recheck();

    /// <summary>Also without events: its end is reported.</summary>
    public void Watch(IReadinessWatcher watcher)
    {
        if (events != PollEvents.Out)
        {
            socket.Queue.Watchers.Add(watcher);
        }

        if (Asks(PollEvents.Out))
        {
            socket.Core.WritableWatchers.Add(watcher);
        }
    }

    public void Unwatch(IReadinessWatcher watcher)
    {
        if (events != PollEvents.Out)
        {
            socket.Queue.Watchers.Remove(watcher);
        }

        if (Asks(PollEvents.Out))
        {
            socket.Core.WritableWatchers.Remove(watcher);
        }
    }

    private bool Asks(PollEvents one) => (events & one) == one;
}

/// <summary>What a <see cref="SocketPoller"/> waits for.</summary>
[Flags]
public enum PollEvents
{
    /// <summary>Nothing: the socket is never ready.</summary>
    None = 0,

    /// <summary>A message can be received now; with STREAM also a connect or disconnect event.</summary>
    In = 1,

    /// <summary>
    /// A send would not wait now. STREAM is always ready, because each peer has its own capacity. As in the native core, PUB and XPUB are
    /// always ready, with NoDrop too, and a ROUTER with Mandatory while any peer has capacity. After a failed send use SendAsync to wait.
    /// </summary>
    Out = 2,
}

/// <summary>One ready socket of a <see cref="SocketPoller"/>.</summary>
public readonly struct PollResult
{
    /// <summary>The socket.</summary>
    public ZlinkSocket Socket { get; init; }

    /// <summary>What it is ready for.</summary>
    public PollEvents Events { get; init; }

    /// <summary>The object that was passed to Add.</summary>
    public object? UserState { get; init; }
}
