using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <param name="Sentence">What happened and what to do, in lower case without a full stop.</param>
internal readonly record struct DialResult(Socket? Socket, SocketError Error, string Sentence);
