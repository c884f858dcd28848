using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets;

/// <summary>Sessions are found by their listener, so thousands of listeners can be unbound without a search.</summary>
internal sealed class SocketSessions(ByteBudget? budget)
{
    private readonly Lock _gate = new();
    private readonly HashSet<ZmpSession> _dialled = [];
    private readonly ListsByKey<BoundListener, ZmpSession> _accepted = new();
    private ConnectionLimit _connectionLimit;

    public int Limit { get; set; }

    public ZmpSession[] All
    {
        get
        {
            lock (_gate)
            {
                return [.. _dialled, .. _accepted.All];
            }
        }
    }

    public ZmpSession[] Accepted
    {
        get
        {
            lock (_gate)
            {
                return [.. _accepted.All];
            }
        }
    }

    public ZmpSession[] Of(BoundListener listener)
    {
        lock (_gate)
        {
            return _accepted.Of(listener);
        }
    }

    public string? AcquireConnection()
    {
        if (budget is { IsFullOfDetached: true })
        {
            return "unread messages of disconnected peers fill the context's QueuedByteLimit; receive them, or raise the limit";
        }

        lock (_gate)
        {
            return _connectionLimit.Acquire(_dialled.Count + _accepted.Count, Limit);
        }
    }

    public void ReleaseConnection()
    {
        lock (_gate)
        {
            _connectionLimit.Release();
        }
    }

    public void Track(ZmpSession session)
    {
        lock (_gate)
        {
            if (session.Listener is not { } listener)
            {
                _dialled.Add(session);
                return;
            }

            _accepted.Add(listener, session);
            _connectionLimit.Release();
        }

        if (session.Listener.IsClosed)
        {
            // The listener was closed between the two steps and may not have seen the connection.
            session.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly, session.Listener.Linger);
        }
    }

    public void Forget(ZmpSession session)
    {
        lock (_gate)
        {
            if (session.Listener is { } listener)
            {
                _accepted.Remove(listener, session);
            }
            else
            {
                _dialled.RemoveAndTrim(session);
            }
        }
    }
}
