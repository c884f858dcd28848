using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// The connections of a socket, from their start to their end. Those of a listener are found by it, so thousands of listeners can be
/// unbound without a search.
/// </summary>
internal sealed class SocketConnections(ContextQuota? quota)
{
    private readonly Lock _gate = new();
    private readonly HashSet<Connection> _dialled = [];
    private readonly ListsByKey<BoundListener, WireLink> _accepted = new();
    private ConnectionLimit _connectionLimit;

    public int Limit { get; set; }

    public Connection[] Find(bool onlyAccepted)
    {
        lock (_gate)
        {
            return [.. onlyAccepted ? [] : _dialled, .. _accepted.All.Select(static link => link.Accepted!)];
        }
    }

    public WireLink[] Of(BoundListener listener)
    {
        lock (_gate)
        {
            return _accepted.Of(listener);
        }
    }

    public string? AcquireConnection()
    {
        if (quota is { IsFullOfDetached: true })
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

    public void Track(WireLink link, Connection connection)
    {
        lock (_gate)
        {
            if (link.Listener is not { } listener)
            {
                _dialled.Add(connection);
                return;
            }

            _accepted.Add(listener, link);
            _connectionLimit.Release();
        }

        if (link.Listener.IsClosed)
        {
            // The listener was closed between the two steps and may not have seen the connection.
            connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly, link.Listener.Linger);
        }
    }

    public void Forget(WireLink link, Connection connection)
    {
        lock (_gate)
        {
            if (link.Listener is { } listener)
            {
                _accepted.Remove(listener, link);
            }
            else
            {
                _dialled.RemoveAndTrim(connection);
            }
        }
    }
}
