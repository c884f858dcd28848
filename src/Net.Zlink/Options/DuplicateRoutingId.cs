namespace Net.Zlink;

/// <summary>What a <see cref="RouterSocket"/> does with a peer that announces a routing id which another peer has:
/// <see cref="RouterOptions.OnDuplicateRoutingId"/>.</summary>
public enum DuplicateRoutingId
{
    /// <summary>The earlier peer gets a HEARTBEAT, and the newcomer waits for the answer: <see cref="ZmpSocketOptions.HeartbeatTimeout"/>,
    /// or 2 s if neither that nor an interval is set. If the earlier peer answers, the newcomer's connection is closed. If it is silent,
    /// its own connection is closed, and the newcomer gets the id.</summary>
    /// <remarks>
    /// For accepted connections; a connection that this side made keeps its id. A client that knows an id can take it from a peer that is
    /// silent
    /// for that time. On networks that are not trusted use <see cref="Refuse"/>, or tls with client certificates: then only a newcomer with
    /// the same subject waits (docs/protocol.md section 15.3).
    /// </remarks>
    ReplaceSilent,

    /// <summary>The newcomer's connection is closed, and its socket connects again until the id is free.</summary>
    /// <remarks>A refused peer learns that one way there and back after it has begun to write. What it has written by then is lost
    /// (docs/protocol.md section 15.3).</remarks>
    Refuse,

    /// <summary>The newcomer gets the id, and the earlier connection is closed. If this side had made that connection, it makes it again
    /// when the id is free.</summary>
    Replace,

    /// <summary>Both stay. A message for the id goes to the newest connection that has it, and when that ends to the one before
    /// it.</summary>
    /// <remarks><see cref="RouterSocket.TrySendTo(in Message, ReadOnlySpan{byte}, out ZlinkError)"/> answers by the connection that a
    /// message came by. A name given to <see cref="RouterSocket.Connect(string, ReadOnlySpan{byte})"/> still has to be free.</remarks>
    Share,
}
