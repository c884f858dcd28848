using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>The outcome of a dial: a connected socket, or an error.</summary>
/// <param name="Socket">Connected, non-blocking, options set; the caller's to dispose. Null when the dial failed.</param>
/// <param name="Error">
/// <see cref="SocketError.Success"/>; <see cref="SocketError.OperationAborted"/> when the token was cancelled;
/// <see cref="SocketError.TimedOut"/> after the connect timeout; <see cref="SocketError.HostNotFound"/> and its kin when the name has no
/// address; otherwise what the last address tried said.
/// </param>
/// <param name="Sentence">What went wrong and what to do, in lower case without a full stop; empty on success.</param>
internal readonly record struct DialResult(Socket? Socket, SocketError Error, string Sentence);
