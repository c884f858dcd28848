using Net.Zlink.Flow;

namespace Net.Zlink;

/// <summary>
/// A STREAM socket of a poller: readable while a pulled message or event is unread, and always writable, as in the native core, because
/// each peer has its own capacity.
/// </summary>
internal sealed class StreamPollItem(StreamSocket socket, PollEvents events, object? state)
    : PollItem(socket, events, state)
{
    private ReadinessWatchers Watchers => socket.Hub.Receive.Watchers;

    public override PollItem With(PollEvents other) => new StreamPollItem(socket, other, State);

    public override PollEvents Check()
    {
        socket.ThrowIfEnded();
        PollEvents ready = Asks(PollEvents.In) && socket.Hub.Receive.IsReadable ? PollEvents.In : PollEvents.None;
        return Asks(PollEvents.Out) ? ready | PollEvents.Out : ready;
    }

    /// <inheritdoc/>
    /// <remarks>Also without events: its end is reported.</remarks>
    public override void Watch(IReadinessWatcher watcher) => Watchers.Add(watcher);

    public override void Unwatch(IReadinessWatcher watcher) => Watchers.Remove(watcher);
}
