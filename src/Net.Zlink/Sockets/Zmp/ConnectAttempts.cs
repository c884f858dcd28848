using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets.Zmp;

internal sealed class ConnectAttempts(ReconnectPolicy users, bool afterFault)
{
    // After an ERROR that reports a timer, the peer is alive: pauses double from the interval up to this, so a peer in trouble is not
    // hammered.
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(30);

    private const int BriefConnections = 3;

    private readonly ReconnectPolicy _slowly =
        new(users.Interval, users.MaxInterval > TimeSpan.Zero ? users.MaxInterval : users.Interval > LongestPause ? users.Interval
        : LongestPause);
    private readonly ReconnectPolicy _random = new(users.Interval, TimeSpan.Zero);
    private int _attempts;
    private int _faults;
    private int _brief;

    private bool AreConnectionsBrief => _brief >= BriefConnections;

    /// <summary>A random part: a peer that dials this side for the same reason must not do so at the same moment each time.</summary>
    public TimeSpan RandomPause => _random.PauseBefore(0);

    public bool AreFailing => AreConnectionsBrief || _faults > 1;

    public void OnConnected() => _attempts = 0;

    public void Forget() => (_attempts, _faults, _brief) = (0, 0, 0);

    public ConnectionOutcome OnEnded(ZmpSession session)
    {
        // The peer displaced it: reconnecting would displace the other connection, and so on.
        bool isOutdone = session.Fault is { PeersCode: ZmpErrorCode.RoutingIdTakenOver };
        // Both sides displaced the other's connection at the same moment: both are lost, and the id is free.
        bool isMutual = isOutdone && !session.HasLasted && session.Link.HasReplaced;
        if (session.Fault is { ConnecterTriesAgain: false } fault && !isMutual && (isOutdone || !afterFault))
        {
            return new ConnectionOutcome(WhyNoFurther(session, fault, always: isOutdone), "", IsMutual: false);
        }

        bool wasReady = session.IsReady;

        // A connection that was shorter may end for the same reason each time: a publisher reports too many topics only after it has
        // accepted all that it allows, which can take seconds.
        bool hasStood = session.ReadyFor >= _slowly.MaxInterval;
        _faults = session.Fault is not { IsTimeout: false } ? 0 : hasStood ? 1 : _faults + 1;
        _brief = session is { WasBrief: true, EndReason: DisconnectReason.Remote } ? _brief + 1 : 0;
        string problem = wasReady ? $"the connection ended: {session.EndDetail}" : $"the handshake failed: {session.EndDetail}";
        if (AreConnectionsBrief)
        {
            problem += $", right after the handshake, {BriefConnections} times or more: the peer may refuse this socket, "
                + $"because its routing id is in use there, or because it is a PAIR with a peer. Messages wait until it accepts";
        }

        return new ConnectionOutcome(WhyNoFurther: null, problem, isMutual);
    }

    public TimeSpan NextPause() => _faults > 0 ? _slowly.PauseBefore(_faults) : users.PauseBefore(_attempts++);

    private static string WhyNoFurther(ZmpSession session, in ZmpFault fault, bool always)
    {
        string what = fault.Origin != ZmpFaultOrigin.Received ? $"the peer broke the protocol: {fault.Reason}"
            : $"the peer answered with an ERROR, {ZmpSession.WordsOf(fault)}";
        return $"{what}{session.OtherProtocolText}{(always ? "" : "; ReconnectAfterFault would retry it")}";
    }
}
