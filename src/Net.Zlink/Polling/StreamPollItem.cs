using Net.Zlink.Flow;

namespace Net.Zlink;

/// <summary>A STREAM socket of a poller: readable while a pulled message or an event is unread, and always writable, as natively: whether
/// there is room is a matter of each peer, and which one is meant only the send says.</summary>
internal sealed class StreamPollItem(StreamSocket socket, PollEvents events, object? state) : PollItem(events)
{
    private ReadinessWatchers Watchers => socket.Hub.Queue.Watchers;

    public override PollResult ResultOf(PollEvents ready) => new(socket, null, ready, state);

    public override PollItem With(PollEvents other) => new StreamPollItem(socket, other, state);

    public override PollEvents Check()
    {
        socket.ThrowIfEnded();
        PollEvents ready = Asks(PollEvents.In) && socket.Hub.IsReadable ? PollEvents.In : PollEvents.None;
        return Asks(PollEvents.Out) ? ready | PollEvents.Out : ready;
    }

    /// <inheritdoc/>
    /// <remarks>Also where nothing is asked: its end is news.</remarks>
    public override void Watch(IReadinessWatcher watcher) => Watchers.Add(watcher);

    public override void Unwatch(IReadinessWatcher watcher) => Watchers.Remove(watcher);
}
