using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

/// <summary>Who receives what a connection reads. Every member is called on the connection's shard, one at a time.</summary>
internal interface IConnectionSink
{
    /// <summary>The receiver answers inside <see cref="OnFrames"/>: the connection then holds the write turn, so that all answers leave in one write.</summary>
    bool AnswersInPlace { get; }

    /// <summary>What a warning about a run that took too long names.</summary>
    string Name { get; }

    /// <summary>What is kept of a message whose last part has not come, in bytes; asked after each read.</summary>
    long UnfinishedBytes => 0;

    /// <summary>The connection is up; frames may follow.</summary>
    void OnOpened(Connection connection);

    /// <summary>Whole frames are in.</summary>
    Delivery OnFrames(Connection connection, in InboundBatch batch);

    /// <summary>What the peer sent next breaks the protocol; whole frames before it were delivered. The receiver closes the connection.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="announced">The length that the frame announced, where that is what is wrong.</param>
    void OnBroken(Connection connection, uint announced) => connection.Close(
        DisconnectReason.ProtocolError, CloseMode.Orderly, $"a frame of {announced} bytes was announced; MaxMessageSize is {connection.Settings.MessageLimit}");

    /// <summary>What the peer has begun and not ended is more than the context allows. The receiver lets go of what it keeps of it, and closes the connection.</summary>
    void OnUnfinished(Connection connection, string detail) => connection.Close(DisconnectReason.UnfinishedByteLimit, CloseMode.Orderly, detail);

    /// <summary>Everything that was queued is with the kernel.</summary>
    void OnFlushed(Connection connection)
    {
    }

    /// <summary>Somebody has asked for this call: <see cref="Connection.PostToSink"/>.</summary>
    void OnPosted(Connection connection)
    {
    }

    /// <summary>Whether a connection that has input may read it now; if not, it is parked and the receiver resumes it later.</summary>
    bool MayRead(Connection connection);

    /// <summary>Whether a connection that is parked may hand over what its peer, which is gone, had sent before: nothing comes behind it.</summary>
    bool MayTakeRest(Connection connection) => MayRead(connection);

    /// <summary>The connection takes no more frames in and no more sends out; accepted sends are still being written. Called once.</summary>
    void OnClosing(Connection connection, DisconnectReason reason, string? detail);

    /// <summary>The socket is gone and every buffer is back. Called once, last.</summary>
    void OnClosed(Connection connection);

    /// <summary>Something threw on the connection's behalf; it is being closed with <see cref="DisconnectReason.HandlerFailed"/>.</summary>
    void OnFault(Connection connection, Exception exception);
}
