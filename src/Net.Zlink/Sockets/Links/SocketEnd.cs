using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary><paramref name="Outcome"/>: the result of sends: Terminated after a context shutdown, otherwise Closed.</summary>
internal readonly record struct SocketEnd(SendStatus Outcome, Func<Exception> Error);
