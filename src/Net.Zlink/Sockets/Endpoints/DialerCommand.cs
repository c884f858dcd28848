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
