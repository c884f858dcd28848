using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink;

internal abstract class PollItem(PollEvents events)
{
    public PollEvents Events => events;

    public virtual Socket? Plain => null;

    public abstract PollResult ResultOf(PollEvents ready);

    public abstract PollItem With(PollEvents other);

    public abstract PollEvents Check();

    public virtual bool Recheck() => false;

    public abstract void Watch(IReadinessWatcher watcher);

    public abstract void Unwatch(IReadinessWatcher watcher);

    protected bool Asks(PollEvents one) => (events & one) == one;
}
