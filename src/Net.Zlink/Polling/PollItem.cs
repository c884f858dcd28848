using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink;

/// <summary>One thing that a poller waits for, and what is asked of it. Unchangeable: a change replaces it.</summary>
internal abstract class PollItem(PollEvents events)
{
    public PollEvents Events => events;

    /// <summary>The plain socket; null for what is this library's own.</summary>
    public virtual Socket? Plain => null;

    public abstract PollResult ResultOf(PollEvents ready);

    public abstract PollItem With(PollEvents other);

    /// <summary>What it is ready for now, of what is asked.</summary>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public abstract PollEvents Check();

    /// <summary>A look without a lock at whether there may be a message, for one who looks again and again.</summary>
    public virtual bool Recheck() => false;

    /// <summary>Begins to tell the watcher of news.</summary>
    public abstract void Watch(IReadinessWatcher watcher);

    /// <summary>Takes back what <see cref="Watch"/> did.</summary>
    public abstract void Unwatch(IReadinessWatcher watcher);

    /// <summary>One of the events is asked for.</summary>
    protected bool Asks(PollEvents one) => (events & one) == one;
}
