using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>Ids count 1, 2, 3 ... in order of arrival (docs/protocol.md section 3) and skip 0 when they wrap.</summary>
internal sealed class StreamLinks(StreamCounters counters, CloseTracker parts)
{
    private const int MaxReportedPeers = 1000;

    private readonly Lock _gate = new();
    private readonly Dictionary<uint, StreamLink> _living = [];
    private readonly ListsByKey<object, StreamLink> _byOrigin = new();
    private readonly List<UndeliveredLink> _undelivered = [];
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

    public IReadOnlyList<UndeliveredLink> Undelivered
    {
        get
        {
            List<UndeliveredLink> all;
            StreamLink[] living;
            lock (_gate)
            {
                all = [.. _undelivered];
                living = [.. _living.Values];
            }

            foreach (StreamLink link in living)
            {
                if (all.Count >= MaxReportedPeers)
                {
                    break;
                }

                OutboundCounts counts = link.Count().Outbound;
                if (counts.AcceptedMessages > counts.WrittenMessages)
                {
                    all.Add(new UndeliveredLink(link.Id, link.Endpoint, link.RemoteText, counts.AcceptedMessages - counts.WrittenMessages,
                        counts.AcceptedBytes - counts.WrittenBytes));
                }
            }

            return all;
        }
    }

    public StreamLink[] Of(object origin)
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
    public StreamLink Register(RedactedEndpoint endpoint, object origin, Wire wire)
    {
        parts.Reenter();
        lock (_gate)
        {
            uint id;
            do
            {
                id = ++_lastId;
            }
            while (id == 0 || _living.ContainsKey(id));

            var link = new StreamLink(id, endpoint, origin, wire);
            _living.Add(id, link);
            _byOrigin.Add(origin, link);
            if (origin is BoundListener)
            {
                _connectionLimit.Release();
            }

            return link;
        }
    }

    public void Close(StreamLink link, in LinkCounts counts)
    {
        lock (_gate)
        {
            counters.Closed++;
            counters.ReceivedMessages += counts.ReceivedMessages;
            counters.ReceivedBytes += counts.ReceivedBytes;
            counters.AcceptedMessages += counts.Outbound.AcceptedMessages;
            counters.AcceptedBytes += counts.Outbound.AcceptedBytes;
            counters.WrittenMessages += counts.Outbound.WrittenMessages;
            counters.WrittenBytes += counts.Outbound.WrittenBytes;
            counters.DroppedMessages += counts.Outbound.DroppedMessages;
            counters.DroppedBytes += counts.Outbound.DroppedBytes;
            _living.RemoveAndTrim(link.Id, out _);
            _byOrigin.Remove(link.Origin, link);
            if (counts.Outbound.DroppedMessages > 0 && _undelivered.Count < MaxReportedPeers)
            {
                _undelivered.Add(new UndeliveredLink(link.Id, link.Endpoint, link.RemoteText, counts.Outbound.DroppedMessages,
                    counts.Outbound.DroppedBytes));
            }
        }

        parts.Leave();
    }

    public StreamCounters Sum()
    {
        var sum = new StreamCounters();
        PooledCopy<StreamLink> living;
        lock (_gate)
        {
            sum.Add(counters);
            living = new PooledCopy<StreamLink>(_living.Values);
        }

        using (living)
        {
            // Outside of the lock, which new and ending connections need: one lock a peer.
            foreach (StreamLink link in living.Items)
            {
                sum.Add(link.Count());
            }
        }

        return sum;
    }
}

internal readonly record struct UndeliveredLink(uint Id, RedactedEndpoint Endpoint, string Remote, long Messages, long Bytes);
