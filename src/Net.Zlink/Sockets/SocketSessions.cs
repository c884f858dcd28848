using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets;

/// <summary>The sessions of one ZMP socket in both directions, with those in a handshake, and the connection limit.</summary>
/// <remarks>Thread-safe. Sessions are found by their listener, so thousands of listeners can be unbound without a search.</remarks>
internal sealed class SocketSessions
{
    private readonly Lock _gate = new();
    private readonly HashSet<ZmpSession> _dialled = [];
    private readonly ListsByKey<ZmpListener, ZmpSession> _accepted = new();
    private ConnectionLimit _connectionLimit;

    /// <summary>The limit for both directions. 0: none.</summary>
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

    public ZmpSession[] Of(ZmpListener listener)
    {
        lock (_gate)
        {
            return _accepted.Of(listener);
        }
    }

    /// <summary>Takes a connection slot for an accepted connection, until <see cref="Track"/> or <see cref="ReleaseConnection"/>.</summary>
    /// <returns>Null, or why it is rejected.</returns>
    public string? AcquireConnection()
    {
        lock (_gate)
        {
            return _connectionLimit.Acquire(_dialled.Count + _accepted.Count, Limit);
        }
    }

    /// <summary>The accepted connection got no session.</summary>
    public void ReleaseConnection()
    {
        lock (_gate)
        {
            _connectionLimit.Release();
        }
    }

    /// <summary>Adds a session with its connection. An accepted one uses the slot that it has taken.</summary>
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
