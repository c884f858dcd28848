using System.Net.Sockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink;

/// <summary>One ready item of a <see cref="Poller"/>.</summary>
/// <param name="Socket">The socket of this library; null for anything else.</param>
/// <param name="PlainSocket">The plain socket; null for anything else.</param>
/// <param name="Events">What it is ready for, of what was asked; of a plain socket also Error.</param>
/// <param name="UserState">What was given with it to Add.</param>
public readonly record struct PollResult(ZlinkSocket? Socket, Socket? PlainSocket, PollEvents Events, object? UserState)
{
    /// <summary>The monitor; null for anything else.</summary>
    public SocketMonitor? Monitor { get; init; }
}
