using System.Net.Sockets;

namespace Net.Zlink;

/// <summary>One ready item of a <see cref="Poller"/>.</summary>
/// <param name="Socket">The socket; null for a plain one.</param>
/// <param name="PlainSocket">The plain socket; null for one of this library.</param>
/// <param name="Events">What it is ready for, of what was asked; of a plain socket also Error.</param>
/// <param name="UserState">What was given with it to Add.</param>
public readonly record struct PollResult(ZlinkSocket? Socket, Socket? PlainSocket, PollEvents Events, object? UserState);
