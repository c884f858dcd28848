using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <param name="Outcome">The result of sends: Terminated after a context shutdown, otherwise Closed.</param>
internal readonly record struct SocketEnd(SendStatus Outcome, Func<Exception> Error);
