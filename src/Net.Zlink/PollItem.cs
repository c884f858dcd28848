using System.Net.Sockets;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>One socket of a poller, and what is asked of it. Unchangeable: a change replaces it.</summary>
internal sealed class PollItem(ZlinkSocket? socket, Socket? plain, PollEvents events, object? state)
{
    private readonly SocketCore? _core = socket?.Core;
    private readonly Lock _looking = new();
    private bool _isOut;

    public ZlinkSocket? Socket => socket;

    public Socket? Plain => plain;

    public PollEvents Events => events;

    public PollResult ResultOf(PollEvents ready) => new(socket, plain, ready, state);

    public PollItem With(PollEvents other) => new(socket, plain, other, state);

    /// <summary>What it is ready for now, of what is asked.</summary>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    public PollEvents Look()
    {
        if (_core is not { } core)
        {
            return LookAtPlain();
        }

        socket!.ThrowIfEnded();
        PollEvents ready = (events & PollEvents.In) == PollEvents.In && core.Receive.IsReadable ? PollEvents.In : PollEvents.None;
        return (events & PollEvents.Out) == PollEvents.Out && core.CanSend ? ready | PollEvents.Out : ready;
    }

    /// <summary>A look without a lock at whether there may be a message, for one who looks again and again; reads what a single peer has just sent, if no thread runs its shard.</summary>
    public bool LookAgain()
    {
        if (_core is not { } core || (events & PollEvents.In) != PollEvents.In)
        {
            return false;
        }

        if (!core.Receive.IsWorthTaking)
        {
            core.ReadAhead();
        }

        return core.Receive.IsWorthTaking;
    }

    /// <summary>Begins to tell the watcher of news. A closed socket is news whatever is asked.</summary>
    public void Watch(IReadinessWatcher watcher)
    {
        if (_core is { } core)
        {
            if (events != PollEvents.Out)
            {
                core.Receive.Watchers.Add(watcher);
            }

            if ((events & PollEvents.Out) == PollEvents.Out)
            {
                core.WritableWatchers.Add(watcher);
            }
        }
    }

    /// <summary>Takes back what <see cref="Watch"/> did. A plain socket is looked at no more when it returns: one that is disposed in the middle of a look resets its peer (<see cref="PlainSocketWatch"/>).</summary>
    public void Unwatch(IReadinessWatcher watcher)
    {
        lock (_looking)
        {
            _isOut = true;
        }

        if (_core is { } core)
        {
            if (events != PollEvents.Out)
            {
                core.Receive.Watchers.Remove(watcher);
            }

            if ((events & PollEvents.Out) == PollEvents.Out)
            {
                core.WritableWatchers.Remove(watcher);
            }
        }
    }

    private PollEvents LookAtPlain()
    {
        if (events == PollEvents.None)
        {
            return PollEvents.None;
        }

        lock (_looking)
        {
            if (_isOut)
            {
                return PollEvents.None;
            }

            // An error is reported whether it was asked for or not, as natively: it ends every wait, so a poll that did not tell would never rest.
            PollEvents ready = plain!.Poll(0, SelectMode.SelectError) ? PollEvents.Error : PollEvents.None;
            ready |= LookAtPlain(PollEvents.In, SelectMode.SelectRead);
            return ready | LookAtPlain(PollEvents.Out, SelectMode.SelectWrite);
        }
    }

    private PollEvents LookAtPlain(PollEvents one, SelectMode mode) => (events & one) == one && plain!.Poll(0, mode) ? one : PollEvents.None;
}
