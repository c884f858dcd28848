namespace Net.Zlink;

/// <summary>
/// What a <see cref="RouterSocket"/> does with a peer whose routing id another peer has: <see cref="RouterOptions.OnDuplicateRoutingId"/>.
/// </summary>
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

    /// <summary>The new connection is closed, and its socket reconnects until the id is free.</summary>
    /// <remarks>
    /// The refused peer learns of it one round trip after it began to write. What it has written by then is lost (docs/protocol.md section
    /// 15.3).
    /// </remarks>
    Refuse,

    /// <summary>
    /// The new peer gets the id, and the earlier connection is closed. If this side made that connection, it reconnects when the id is
    /// free.
    /// </summary>
    Replace,

    /// <summary>
    /// Both stay. A message for the id goes to the newest connection. When that ends, the one before it gets the messages.
    /// </summary>
    /// <remarks>
    /// <see cref="RouterSocket.To(in Message)"/> answers on the connection of a message. A name
    /// for <see cref="RouterSocket.Connect(string, RoutingId)"/> must still be free.
    /// </remarks>
    Share,
}
