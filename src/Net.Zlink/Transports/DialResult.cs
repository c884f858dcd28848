using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>The outcome of a dial: a connected socket, or an error.</summary>
/// <param name="Socket">Connected, non-blocking, with options set; owned by the caller. Null after a failure.</param>
/// <param name="Error">
/// <see cref="SocketError.Success"/>; <see cref="SocketError.OperationAborted"/> after cancellation; <see cref="SocketError.TimedOut"/>
/// after the connect timeout; <see cref="SocketError.HostNotFound"/> and similar for a name without an address; otherwise the last
/// address's error.
/// </param>
/// <param name="Sentence">What happened and what to do, in lower case without a full stop. Empty on success.</param>
internal readonly record struct DialResult(Socket? Socket, SocketError Error, string Sentence);
