using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>Ids count 1, 2, 3 ... in order of arrival (docs/protocol.md section 3) and skip 0 when they wrap.</summary>
internal sealed class StreamLinks(StreamHub hub)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, StreamLink> _living = [];
    private readonly ListsByKey<IConnectionOrigin, StreamLink> _byOrigin = new();
    private uint _lastId;
    private ConnectionLimit _connectionLimit;

    public StreamLink[] All
    {
        get
        {
            lock (_gate)
            {
                return [.. _living.Values];
            }
        }
    }

    public StreamLink[] Of(IConnectionOrigin origin)
    {
        lock (_gate)
        {
            return _byOrigin.Of(origin);
        }
    }

    public string? AcquireConnection(StreamSettings settings)
    {
        lock (_gate)
        {
            return _connectionLimit.Acquire(_living.Count, settings.MaxConnections);
        }
    }

    public void ReleaseConnection()
    {
        lock (_gate)
        {
            _connectionLimit.Release();
        }
    }

    /// <summary>The caller has entered the socket; the link is a part of it until it is closed.</summary>
    public StreamLink Register(RedactedEndpoint endpoint, IConnectionOrigin origin, Wire wire)
    {
        hub.Parts.Reenter();
        StreamLink link;
        lock (_gate)
        {
            uint id;
            do
            {
                id = ++_lastId;
            }
            while (id == 0 || _living.ContainsKey(id));

            link = new StreamLink(id, endpoint, origin, wire, hub);
            _living.Add(id, link);
            _byOrigin.Add(origin, link);
            if (origin is BoundListener)
            {
                _connectionLimit.Release();
            }
        }

        hub.Counters.Open(link);
        return link;
    }

    public QueueCounts Close(StreamLink link)
    {
        hub.Counters.TryFinalize(link, out QueueCounts outbound);
        Interlocked.Increment(ref hub.Counters.Closed);
        lock (_gate)
        {
            _living.RemoveAndTrim(link.Id, out _);
            _byOrigin.Remove(link.Origin!, link);
        }

        hub.Parts.Leave();
        return outbound;
    }
}
