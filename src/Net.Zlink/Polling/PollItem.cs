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
