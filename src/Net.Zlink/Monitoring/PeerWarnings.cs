using System.Net.Sockets;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Monitoring;

/// <summary>Limits the warnings that peers can cause: a peer that fails retries ten times a second, a hostile one faster.</summary>
internal sealed class PeerWarnings(ILogger logger, TimeProvider time)
{
    /// <summary>
    /// Different sentences per endpoint within one <see cref="Silence"/>. There are fewer causes than that, unless a peer invents faults.
    /// </summary>
    public const int MaxPerEndpoint = 16;

    /// <summary>The same sentence is logged once in this time: 60 times in an outage of an hour.</summary>
    public static readonly TimeSpan Silence = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Endpoint, string Group), HashSet<string>> _logged = [];
    private long _since;

    public void AcceptFailed(RedactedEndpoint endpoint, SocketError error, TimeSpan backOff)
    {
        if (Admits(endpoint, error.ToString(), nameof(AcceptFailed)))
        {
            Log.AcceptFailed(logger, endpoint, error, backOff.TotalMilliseconds);
        }
    }

    public void ConnectionRefused(RedactedEndpoint endpoint, string why)
    {
        if (Admits(endpoint, why))
        {
            Log.ConnectionRefused(logger, endpoint, why);
        }
    }

    public void HandshakeFailed(RedactedEndpoint endpoint, RedactedEndpoint remote, HandshakeFailure cause, string detail)
    {
        if (Admits(endpoint, detail))
        {
            Log.HandshakeFailed(logger, endpoint, remote, cause, detail);
        }
    }

    /// <summary><paramref name="kind"/>: the fault without its figures, because a peer can vary those without limit.</summary>
    public void PeerBrokeProtocol(RedactedEndpoint endpoint, RedactedEndpoint remote, string kind, string detail)
    {
        if (Admits(endpoint, kind))
        {
            Log.PeerBrokeProtocol(logger, endpoint, remote, detail);
        }
    }

    public void Undelivered(string peer, RedactedEndpoint endpoint, long messages, long bytes)
    {
        if (Admits(endpoint, peer, nameof(Undelivered)))
        {
            Log.Undelivered(logger, peer, endpoint, messages, bytes);
        }
    }

    public void PeerUnfinishedLimit(DisconnectReason reason, RedactedEndpoint endpoint, RedactedEndpoint remote, string detail)
    {
        if (Admits(endpoint, reason.ToString()))
        {
            Log.PeerUnfinishedLimit(logger, endpoint, remote, detail);
        }
    }

    /// <summary>Each new peer runs into unusable files, so this warning is limited too.</summary>
    public void FilesNotRenewed(RedactedEndpoint endpoint, string why)
    {
        if (Admits(endpoint, why, nameof(FilesNotRenewed)))
        {
            Log.FilesNotRenewed(logger, endpoint, why);
        }
    }

    /// <summary><paramref name="quota"/>: a group with 16 sentences of its own, so that other faults cannot use them up.</summary>
    private bool Admits(RedactedEndpoint endpoint, string sentence, string quota = "")
    {
        lock (_gate)
        {
            if (_logged.Count == 0 || time.GetElapsedTime(_since) >= Silence)
            {
                _logged.Clear();
                _since = time.GetTimestamp();
            }

            (string, string) key = (endpoint.ToString(), quota);
            if (!_logged.TryGetValue(key, out HashSet<string>? sentences))
            {
                _logged.Add(key, sentences = new(StringComparer.Ordinal));
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
