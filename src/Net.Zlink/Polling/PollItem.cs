using Net.Zlink.Flow;

namespace Net.Zlink;

internal abstract class PollItem(ZlinkSocket socket, PollEvents events, object? state)
{
    public PollEvents Events => events;

    protected object? State => state;

    public PollResult ResultOf(PollEvents ready) => new() { Socket = socket, Events = ready, UserState = state };

    public abstract PollItem With(PollEvents other);

    public abstract PollEvents Check();

    public virtual bool Recheck() => false;

    public abstract void Watch(IReadinessWatcher watcher);

    public abstract void Unwatch(IReadinessWatcher watcher);

    protected bool Asks(PollEvents one) => (events & one) == one;
}
