using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary><paramref name="Sentence"/>: what happened and what to do, in lower case without a full stop.</summary>
internal readonly record struct DialResult(Wire? Wire, SocketError Error, string Sentence);
