using System.Net.Sockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink;

/// <summary>One ready item of a <see cref="Poller"/>.</summary>
/// <param name="Socket">The socket of this library, or null.</param>
/// <param name="PlainSocket">The plain socket, or null.</param>
/// <param name="Events">What it is ready for; for a plain socket also Error.</param>
/// <param name="UserState">The object that was passed to Add.</param>
public readonly record struct PollResult(ZlinkSocket? Socket, Socket? PlainSocket, PollEvents Events, object? UserState)
{
    /// <summary>The monitor, or null.</summary>
    public SocketMonitor? Monitor { get; init; }
}
