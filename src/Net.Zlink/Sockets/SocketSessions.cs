using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets;

/// <summary>The connections of one ZMP socket, in both directions, also those in a handshake, and the places that are left for
/// more.</summary>
/// <remarks>Safe for any number of threads. Those of a listener are found by it: thousands of listeners are unbound without a look at all
/// connections for each.</remarks>
internal sealed class SocketSessions
{
    private readonly Lock _gate = new();
    private readonly HashSet<ZmpSession> _dialled = [];
    private readonly ListsByKey<ZmpListener, ZmpSession> _accepted = new();
    private ConnectionLimit _connectionLimit;

    /// <summary>Most connections at once, in both directions; 0: any number.</summary>
    public int Limit { get; set; }

    /// <summary>All of them.</summary>
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

    /// <summary>Those that came in.</summary>
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

    /// <summary>Those that came in by a listener.</summary>
    public ZmpSession[] Of(ZmpListener listener)
    {
        lock (_gate)
        {
            return _accepted.Of(listener);
        }
    }

    /// <summary>Gives an accepted connection a place, also while it goes through its transport's own handshake: until <see cref="Track"/>
    /// or <see cref="ReleaseConnection"/>.</summary>
    /// <returns>Null, or why it must be turned away.</returns>
    public string? AcquireConnection()
    {
        lock (_gate)
        {
            return _connectionLimit.Acquire(_dialled.Count + _accepted.Count, Limit);
        }
    }

    /// <summary>No session has come of it.</summary>
    public void ReleaseConnection()
    {
        lock (_gate)
        {
            _connectionLimit.Release();
        }
    }

    /// <summary>The session has its connection. An accepted one sits down in the place that was taken for it.</summary>
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
            // The listener closed between the two steps and may not have seen the connection.
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
