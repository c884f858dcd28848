using Net.Zlink.Flow;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class ZmpPollItem(ZmpSocket socket, PollEvents events, object? state)
    : PollItem(socket, events, state)
{
    private readonly SocketCore _core = socket.Core;

    public override PollItem With(PollEvents other) => new ZmpPollItem(socket, other, State);

    public override PollEvents Check()
    {
        socket.ThrowIfEnded();
        PollEvents ready = Asks(PollEvents.In) && _core.Receive.IsReadable ? PollEvents.In : PollEvents.None;
        return Asks(PollEvents.Out) && _core.CanSend ? ready | PollEvents.Out : ready;
    }

    /// <inheritdoc/>
    /// <remarks>Reads from a single peer, if no thread runs its shard.</remarks>
    public override bool Recheck()
    {
        if (!Asks(PollEvents.In))
        {
            return false;
        }

        if (!_core.Receive.IsWorthTaking)
        {
            _core.ReadAhead();
        }

        return _core.Receive.IsWorthTaking;
    }

    /// <inheritdoc/>
    /// <remarks>Also without events: its end is reported.</remarks>
    public override void Watch(IReadinessWatcher watcher)
    {
        if (Events != PollEvents.Out)
        {
            _core.Receive.Watchers.Add(watcher);
        }

        if (Asks(PollEvents.Out))
        {
            _core.WritableWatchers.Add(watcher);
        }
    }

    public override void Unwatch(IReadinessWatcher watcher)
    {
        if (Events != PollEvents.Out)
        {
            _core.Receive.Watchers.Remove(watcher);
        }

        if (Asks(PollEvents.Out))
        {
            _core.WritableWatchers.Remove(watcher);
        }
    }
}
