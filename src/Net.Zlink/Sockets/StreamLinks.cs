using System.Net;
using Net.Zlink.Engine;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>
/// The connections of one STREAM socket from accept to end: ids, connection limit and counts, with those of ended connections.
/// </summary>
/// <remarks>
/// Thread-safe. Ids count 1, 2, 3 ... in order of arrival (docs/protocol.md section 3) and skip 0 when they wrap. Connections are found by
/// their listener or dialer, so thousands of endpoints can be ended without a search.
/// </remarks>
internal sealed class StreamLinks(StreamCounters counters, CloseTracker parts)
{
    // The number of peers that a shutdown report lists; the sums include all.
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

    /// <summary>Accepted messages that could not be written, by peer. For open connections: the queued ones.</summary>
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

    /// <summary>
    /// Takes one of <see cref="StreamSettings.MaxConnections"/> slots for an accepted connection, until <see cref="TryRegister"/> or
    /// <see cref="ReleaseConnection"/>.
    /// </summary>
    /// <returns>Null, or why it is rejected.</returns>
    public string? AcquireConnection(StreamSettings settings)
    {
        lock (_gate)
        {
            return _connectionLimit.Acquire(_living.Count, settings.MaxConnections);
        }
    }

    /// <summary>The accepted connection got no peer.</summary>
    public void ReleaseConnection()
    {
        lock (_gate)
        {
            _connectionLimit.Release();
        }
    }

    /// <summary>Gives a peer its id. False if the socket is closed.</summary>
    public bool TryRegister(string endpoint, object origin, Wire wire, EndPoint? remote, out StreamLink link)
    {
        lock (_gate)
        {
            uint id;
            do
            {
                id = ++_lastId;
            }
            while (id == 0 || _living.ContainsKey(id));

            link = new StreamLink(id, endpoint, origin, wire, remote);
            if (!parts.TryEnter()) // In one step with the registration: a close either finds it here, or it is rejected.
            {
                return false;
            }

            _living.Add(id, link);
            _byOrigin.Add(origin, link);
            if (origin is StreamListener)
            {
                _connectionLimit.Release(); // It uses the slot that was taken for it.
            }

            return true;
        }
    }

    /// <summary>A connection has ended: adds its counts to the totals.</summary>
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
            // Outside of the lock, which new and ending connections need: one lock a peer. A connection that ends meanwhile is not in the
            // totals yet, and its counts no longer change.
            foreach (StreamLink link in living.Items)
            {
                sum.Add(link.Count());
            }
        }

        return sum;
    }
}

/// <summary>Accepted messages of one peer that were not written.</summary>
internal readonly record struct UndeliveredLink(uint Id, string Endpoint, string Remote, long Messages, long Bytes);
