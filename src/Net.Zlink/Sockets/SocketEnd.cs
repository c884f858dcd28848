using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>How a socket has ended.</summary>
/// <param name="Outcome">What sends come to: Terminated where the context was shut down, else Closed.</param>
/// <param name="Error">What calls throw: a new one for each.</param>
internal readonly record struct SocketEnd(SendStatus Outcome, Func<Exception> Error);
