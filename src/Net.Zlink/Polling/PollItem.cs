using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink;

/// <summary>One item of a poller with its events. Immutable: a change replaces it.</summary>
internal abstract class PollItem(PollEvents events)
{
    public PollEvents Events => events;

    /// <summary>The plain socket, or null.</summary>
    public virtual Socket? Plain => null;

    public abstract PollResult ResultOf(PollEvents ready);

    public abstract PollItem With(PollEvents other);

    /// <summary>The events that it is ready for.</summary>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public abstract PollEvents Check();

    /// <summary>A check without a lock whether there may be a message, for repeated checks.</summary>
    public virtual bool Recheck() => false;

    public abstract void Watch(IReadinessWatcher watcher);

    /// <summary>Undoes <see cref="Watch"/>.</summary>
    public abstract void Unwatch(IReadinessWatcher watcher);

    protected bool Asks(PollEvents one) => (events & one) == one;
}
