using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

/// <summary>Receives what a connection reads. Called on the connection's shard, one call at a time.</summary>
internal interface IConnectionSink
{
    /// <summary>The sink replies inside <see cref="OnFrames"/>: the connection then writes all replies in one write.</summary>
    bool RepliesSynchronously { get; }

    string Name { get; }

    /// <summary>Bytes retained of an unfinished message; read after each read.</summary>
    long UnfinishedBytes => 0;

    void OnOpened(Connection connection);

    Delivery OnFrames(Connection connection, in InboundBatch batch);

    /// <summary>
    /// The peer's next bytes violate the protocol; whole frames before them were delivered. The sink closes the connection.
    /// </summary>
    /// <remarks><paramref name="announced"/>: The length in the frame's header, if that is the error.</remarks>
    void OnBroken(Connection connection, uint announced) => connection.Close(
            DisconnectReason.ProtocolError,
            CloseMode.Orderly,
            $"a frame of {announced} bytes was announced; MaxMessageSize is {connection.Settings.MessageLimit}");

    /// <summary>The unfinished message exceeds the context's limit. The sink releases it and closes the connection.</summary>
    void OnUnfinished(Connection connection, string detail) =>
        connection.Close(DisconnectReason.UnfinishedByteLimit, CloseMode.Orderly, detail);

    void OnFlushed(Connection connection)
    {
    }

    /// <summary>The answer to <see cref="Connection.PostToSink"/>.</summary>
    void OnPosted(Connection connection)
    {
    }

    /// <summary>If false, reading pauses until the sink resumes the connection.</summary>
    bool MayRead(Connection connection);

    /// <summary>Whether a paused connection may still deliver what its disconnected peer had sent.</summary>
    bool MayReadRemaining(Connection connection) => MayRead(connection);

    /// <summary>No more frames in, no more sends out. Accepted messages are still being written. Called once.</summary>
    void OnClosing(Connection connection, DisconnectReason reason, string? detail);

    /// <summary>Every buffer is returned. Called once, last.</summary>
    void OnClosed(Connection connection);

    /// <summary>Code of this connection threw. It closes with <see cref="DisconnectReason.HandlerFailed"/>.</summary>
    void OnFault(Connection connection, Exception exception);
}
