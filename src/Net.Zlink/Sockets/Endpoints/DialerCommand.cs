using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets.Endpoints;

internal enum DialerAction
{
    AwaitTurn,
    AwaitRoutingId,
    Pause,
    Dial,
    Serve,
    Renew,
    CloseConnection,
    CancelStep,
    ArmDeadline,
    End,
    Settle,
}

/// <param name="Action">What to do.</param>
/// <param name="Text">Why.</param>
/// <param name="Pause">How long.</param>
/// <param name="IsLogged">The reason is a failure, and not only the end of a connection that was ready.</param>
/// <param name="Reason">Why the connection is closed.</param>
/// <param name="Mode">How.</param>
internal readonly record struct DialerCommand(DialerAction Action, string Text = "", TimeSpan Pause = default, bool IsLogged = false,
    DisconnectReason Reason = default, CloseMode Mode = default);

/// <summary>How a connection, or an attempt to make one, ended.</summary>
/// <param name="Problem">What happened, for logs and events.</param>
internal readonly record struct ConnectionEnd(string Problem)
{
    public bool WasReady { get; init; }

    public TimeSpan ReadyFor { get; init; }

    /// <summary>The peer ended it right after the handshake.</summary>
    public bool WasBrief { get; init; }

    /// <summary>A fault of either side, after which the pauses grow.</summary>
    public bool IsFault { get; init; }

    /// <summary>The next connection would meet the same again: why none is made, unless faults are retried.</summary>
    public string? WhyNoFurther { get; init; }

    /// <summary>None is made, however faults are treated.</summary>
    public bool IsFinal { get; init; }

    /// <summary>The peer does the same for the same reason, so the next pause has a random part.</summary>
    public bool IsMutual { get; init; }
}
