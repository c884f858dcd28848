using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>The attempts of one dialer so far, as the next pause and its error text need them.</summary>
/// <param name="users">The configured pauses.</param>
/// <param name="afterFault">Reconnect also after a protocol fault.</param>
internal sealed class ConnectAttempts(ReconnectPolicy users, bool afterFault)
{
    // After an ERROR that reports a timer, the peer is alive: pauses double from the interval up to this, so a peer in trouble is not
    // hammered. A longer configured maximum takes precedence.
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(30);

    // A peer that ends for another reason than a rejection is not so quick three times in a row.
    private const int BriefConnections = 3;

    private readonly ReconnectPolicy _slowly =
        new(users.Interval, users.MaxInterval > TimeSpan.Zero ? users.MaxInterval : users.Interval > LongestPause ? users.Interval
        : LongestPause);
    private readonly ReconnectPolicy _apart = new(users.Interval, TimeSpan.Zero);
    private int _attempts;
    private int _faults;
    private int _brief;

    /// <summary>Several connections in a row ended right after their handshakes.</summary>
    private bool AreBrief => _brief >= BriefConnections;

    /// <summary>
    /// A pause with a random part. A peer that dials this side for the same reason must not do so at the same moment each time.
    /// </summary>
    public TimeSpan PauseApart => _apart.PauseBefore(0);

    /// <summary>Several attempts in a row failed, with or without a handshake: the next probably does too.</summary>
    public bool HaveFailed => AreBrief || _faults > 1;

    /// <summary>The transport is connected.</summary>
    public void OnConnected() => _attempts = 0;

    public void Forget() => (_attempts, _faults, _brief) = (0, 0, 0);

    public ConnectionOutcome OnEnded(ZmpSession session)
    {
        // The peer displaced it: reconnecting would displace the other connection, and so on.
        bool isOutdone = session.Fault is { PeersCode: ZmpErrorCode.RoutingIdTakenOver };
        // Both sides displaced the other's connection at the same moment: both are lost, and the id is free.
        bool isMutual = isOutdone && !session.HasLasted && session.Pipe.HasReplaced;
        if (session.Fault is { ConnecterTriesAgain: false } fault && !isMutual && (isOutdone || !afterFault))
        {
            return new ConnectionOutcome(WhyNoFurther(session, fault, always: isOutdone), "", ComesApart: false);
        }

        bool wasReady = session.IsReady;

        // After such a time, this counts as the first trouble. A shorter connection may end for the same reason each time: a publisher
        // reports too many topics only after it has accepted all that it allows, which can take seconds.
        bool hasStood = session.ReadyFor >= _slowly.MaxInterval;
        _faults = session.Fault is not { IsTimeout: false } ? 0 : hasStood ? 1 : _faults + 1;
        _brief = session is { WasBrief: true, EndReason: DisconnectReason.Remote } ? _brief + 1 : 0;
        string problem = wasReady ? $"the connection ended: {session.EndDetail}" : $"the handshake failed: {session.EndDetail}";
        if (AreBrief)
        {
            problem += $", right behind the handshake, {BriefConnections} times or more: the peer may have no place for this socket, "
                + $"because its routing id is in use there, or a PAIR has a peer; messages wait until it answers";
        }

        return new ConnectionOutcome(WhyNoFurther: null, problem, isMutual);
    }

    public TimeSpan NextPause() => _faults > 0 ? _slowly.PauseBefore(_faults) : users.PauseBefore(_attempts++);

    /// <summary>Why a protocol fault ends the endpoint.</summary>
    /// <param name="session">The connection.</param>
    /// <param name="fault">Its fault.</param>
    /// <param name="always">Regardless of the options.</param>
    private static string WhyNoFurther(ZmpSession session, in ZmpFault fault, bool always)
    {
        string what = fault.Origin != ZmpFaultOrigin.Received ? $"the peer broke the protocol: {fault.Reason}"
            : $"the peer answered with an ERROR, {ZmpSession.WordsOf(fault)}";
        return $"{what}{session.OtherProtocolText}{(always ? "" : "; with ReconnectAfterFault it would be tried again")}";
    }
}
