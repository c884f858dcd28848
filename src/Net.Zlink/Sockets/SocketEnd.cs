using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>How a socket has ended.</summary>
/// <param name="Outcome">The result of sends: Terminated after a context shutdown, otherwise Closed.</param>
/// <param name="Error">Makes a new exception for each call.</param>
internal readonly record struct SocketEnd(SendStatus Outcome, Func<Exception> Error);
