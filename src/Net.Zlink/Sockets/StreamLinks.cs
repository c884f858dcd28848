using System.Net;
using Net.Zlink.Engine;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>The connections of one STREAM socket from the first byte to the end of the last: their ids, the places that are left for more,
/// and their books, those of connections that are gone included.</summary>
/// <remarks>
/// Safe for any number of threads. Ids count 1, 2, 3 ... in order of arrival (docs/protocol.md section 3); 0 is skipped when they wrap.
/// What a listener or a dialer has made is found by it, so that thousands of endpoints are ended one by one without a look at all
/// connections for each.
/// </remarks>
internal sealed class StreamLinks(StreamCounters counters, CloseTracker parts)
{
    // How many peers a shutdown report names one by one; the sums count all of them.
    private const int MaxReportedPeers = 1000;

    private readonly Lock _gate = new();
    private readonly Dictionary<uint, StreamLink> _living = [];
    private readonly ListsByKey<object, StreamLink> _byOrigin = new();
    private readonly List<UndeliveredLink> _undelivered = [];
    private uint _lastId;
    private ConnectionLimit _connectionLimit;

    /// <summary>Those that are not over.</summary>
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

    /// <summary>What was accepted from the application and could not be written, by peer; of peers whose connection is open yet, what
    /// waits.</summary>
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

    /// <summary>The connections that a listener or a dialer has made.</summary>
    public StreamLink[] Of(object origin)
    {
        lock (_gate)
        {
            return _byOrigin.Of(origin);
        }
    }

    /// <summary>Gives an accepted connection a place among <see cref="StreamSettings.MaxConnections"/>, also while it goes through its
    /// transport's own handshake: until <see cref="TryRegister"/> or <see cref="ReleaseConnection"/>.</summary>
    /// <returns>Null, or why it must be turned away.</returns>
    public string? AcquireConnection(StreamSettings settings)
    {
        lock (_gate)
        {
            return _connectionLimit.Acquire(_living.Count, settings.MaxConnections);
        }
    }

    /// <summary>No peer has come of it.</summary>
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
            if (!parts.TryEnter()) // In the same step as it is noted: who closes the socket finds it here, or it is turned away.
            {
                return false;
            }

            _living.Add(id, link);
            _byOrigin.Add(origin, link);
            if (origin is StreamListener)
            {
                _connectionLimit.Release(); // It sits down in the one that was taken for it.
            }

            return true;
        }
    }

    /// <summary>A peer's socket is gone: its books become the socket's.</summary>
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

    /// <summary>Adds up everything that the connections have seen, living and gone.</summary>
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
            // Outside of the lock, for which newcomers and those that end wait: a lock a peer. Who ends meanwhile is not in the totals that
            // were taken, and counts no further.
            foreach (StreamLink link in living.Items)
            {
                sum.Add(link.Count());
            }
        }

        return sum;
    }
}

/// <summary>Messages of one peer that were accepted but not written.</summary>
internal readonly record struct UndeliveredLink(uint Id, string Endpoint, string Remote, long Messages, long Bytes);
