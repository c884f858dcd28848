using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>How the attempts of one connecter went so far, as far as the pause before the next depends on it, and what people are told of
/// it.</summary>
/// <param name="users">The pauses that the options name.</param>
/// <param name="afterFault">A fault of the protocol is no reason to give up.</param>
internal sealed class ConnectAttempts(ReconnectPolicy users, bool afterFault)
{
    // After a fault, an ERROR that a timer caused for one, the peer is there and answers: pauses double from the interval up to this, so
    // that a peer in trouble is not hammered. What the user has set as the longest goes before it.
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(30);

    // A peer that went for another reason than that it has no place for this one is not so quick three times in a row.
    private const int BriefConnections = 3;

    private readonly ReconnectPolicy _slowly =
        new(users.Interval, users.MaxInterval > TimeSpan.Zero ? users.MaxInterval : users.Interval > LongestPause ? users.Interval
        : LongestPause);
    private readonly ReconnectPolicy _apart = new(users.Interval, TimeSpan.Zero);
    private int _attempts;
    private int _faults;
    private int _brief;

    /// <summary>One connection after the other was over right behind its handshake.</summary>
    private bool AreBrief => _brief >= BriefConnections;

    /// <summary>A pause with a random part, whatever the options say: a peer that dials this side for the same reason must not do so at the
    /// same moment for ever.</summary>
    public TimeSpan PauseApart => _apart.PauseBefore(0);

    /// <summary>One connection after the other came to nothing, handshake or not: the next is likely to.</summary>
    public bool HaveFailed => AreBrief || _faults > 1;

    /// <summary>The transport is up.</summary>
    public void OnConnected() => _attempts = 0;

    /// <summary>What was is no sign of what comes.</summary>
    public void Forget() => (_attempts, _faults, _brief) = (0, 0, 0);

    /// <summary>A connection is over.</summary>
    public ConnectionOutcome OnEnded(ZmpSession session)
    {
        // Over there: coming again would take the id back, and so on.
        bool isOutdone = session.Fault is { PeersCode: ZmpErrorCode.RoutingIdTakenOver };
        // Each of the two has taken the other's over by its own connection, at the same moment: both are lost, and nobody has the id.
        bool isMutual = isOutdone && !session.HasLasted && session.Pipe.HasReplaced;
        if (session.Fault is { ConnecterTriesAgain: false } fault && !isMutual && (isOutdone || !afterFault))
        {
            return new ConnectionOutcome(WhyNoFurther(session, fault, always: isOutdone), "", ComesApart: false);
        }

        bool wasReady = session.IsReady;

        // One that was ready for so long is in trouble for the first time. One that goes sooner may do so for the same reason each time: a
        // publisher tells a subscriber of too many topics so only when it has taken in all that it allows, which takes seconds where many
        // come.
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

    /// <summary>The pause before the next attempt.</summary>
    public TimeSpan NextPause() => _faults > 0 ? _slowly.PauseBefore(_faults) : users.PauseBefore(_attempts++);

    /// <summary>Why a fault of the protocol ends the endpoint, for people.</summary>
    /// <param name="session">The connection.</param>
    /// <param name="fault">Its fault.</param>
    /// <param name="always">Whatever the options say.</param>
    private static string WhyNoFurther(ZmpSession session, in ZmpFault fault, bool always)
    {
        string what = fault.Origin != ZmpFaultOrigin.Received ? $"the peer broke the protocol: {fault.Reason}"
            : $"the peer answered with an ERROR, {ZmpSession.WordsOf(fault)}";
        return $"{what}{session.OtherProtocolText}{(always ? "" : "; with ReconnectAfterFault it would be tried again")}";
    }
}
