using Microsoft.Extensions.Logging;

namespace Net.Zlink.Monitoring;

/// <summary>
/// The warnings that peers cause, as often as somebody may read them: whoever fails, or is turned away, tries again ten times a second, and
/// a hostile one faster. Events and statistics have each of them. Thread-safe.
/// </summary>
internal sealed class PeerWarnings(ILogger logger, TimeProvider time)
{
    /// <summary>Different sentences an endpoint has within a silence: more than it has causes to turn a peer away; only who makes up new
    /// faults all the time gets there.</summary>
    public const int MaxPerEndpoint = 16;

    /// <summary>So long the same sentence is not logged again: an outage of an hour is 60 lines.</summary>
    public static readonly TimeSpan Silence = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Endpoint, string Quota), HashSet<string>> _logged = [];
    private long _since;

    /// <summary>A peer was turned away.</summary>
    public void ConnectionRefused(string endpoint, string why)
    {
        if (Admits(endpoint, why))
        {
            Log.ConnectionRefused(logger, endpoint, why);
        }
    }

    /// <summary>A connection that came in has failed in its handshake.</summary>
    public void HandshakeFailed(string endpoint, string remote, HandshakeFailure cause, string detail)
    {
        if (Admits(endpoint, detail))
        {
            Log.HandshakeFailed(logger, endpoint, remote, cause, detail);
        }
    }

    /// <summary>A peer has broken the protocol, and its connection is ended.</summary>
    /// <param name="endpoint">Where it came in, or was connected.</param>
    /// <param name="remote">Its address.</param>
    /// <param name="kind">The fault without its figures, which a peer can make up any number of.</param>
    /// <param name="detail">The fault in words.</param>
    public void PeerBrokeProtocol(string endpoint, string remote, string kind, string detail)
    {
        if (Admits(endpoint, kind))
        {
            Log.PeerBrokeProtocol(logger, endpoint, remote, detail);
        }
    }

    /// <summary>What was accepted for a peer was not written when its connection ended.</summary>
    public void Undelivered(string peer, string endpoint, long messages, long bytes)
    {
        if (Admits(endpoint, peer, nameof(Undelivered)))
        {
            Log.Undelivered(logger, peer, endpoint, messages, bytes);
        }
    }

    /// <summary>A peer makes this side hold more than it may, and its connection is ended.</summary>
    public void PeerUnfinishedLimit(DisconnectReason reason, string endpoint, string remote, string detail)
    {
        if (Admits(endpoint, reason.ToString()))
        {
            Log.PeerUnfinishedLimit(logger, endpoint, remote, detail);
        }
    }

    /// <summary>Files of certificates have changed, and cannot be used. Peers do not cause that, but as often as they come it is
    /// met.</summary>
    public void FilesNotRenewed(string endpoint, string why)
    {
        if (Admits(endpoint, why, nameof(FilesNotRenewed)))
        {
            Log.FilesNotRenewed(logger, endpoint, why);
        }
    }

    /// <param name="endpoint">Whose line it is.</param>
    /// <param name="sentence">What is not to be logged again so soon.</param>
    /// <param name="quota">What has 16 lines of its own, where those of other peers' faults are not to use them up, nor it theirs.</param>
    private bool Admits(string endpoint, string sentence, string quota = "")
    {
        lock (_gate)
        {
            if (_logged.Count == 0 || time.GetElapsedTime(_since) >= Silence)
            {
                _logged.Clear();
                _since = time.GetTimestamp();
            }

            if (!_logged.TryGetValue((endpoint, quota), out HashSet<string>? sentences))
            {
                _logged.Add((endpoint, quota), sentences = new(StringComparer.Ordinal));
            }

            if (sentences.Count == MaxPerEndpoint || !sentences.Add(sentence))
            {
                return false;
            }

            if (sentences.Count < MaxPerEndpoint)
            {
                return true;
            }
        }

        Log.WarningsLeftOut(logger, endpoint, MaxPerEndpoint, Silence.TotalSeconds);
        return false;
    }
}
