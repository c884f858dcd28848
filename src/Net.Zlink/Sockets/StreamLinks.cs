using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>Ids count 1, 2, 3 ... in order of arrival (docs/protocol.md section 3) and skip 0 when they wrap.</summary>
internal sealed class StreamLinks(StreamHub hub)
{
    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<uint, StreamLink> _living = new();
    private readonly ListsByKey<IConnectionOrigin, StreamLink> _byOrigin = new();
    private uint _lastId;
    private int _count; // The dictionary would take all its locks.
    private ConnectionLimit _connectionLimit;

    public ICollection<StreamLink> All => _living.Values;

    public bool TryFind(uint id, [NotNullWhen(true)] out StreamLink? link) => _living.TryGetValue(id, out link);

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
            return _connectionLimit.Acquire(_count, settings.MaxConnections);
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
            _living[id] = link;
            _count++;
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
            _living.TryRemove(link.Id, out _);
            _count--;
            _byOrigin.Remove(link.Origin!, link);
        }

        hub.Parts.Leave();
        return outbound;
    }
}
