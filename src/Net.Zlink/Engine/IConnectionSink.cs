using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

/// <summary>Takes what a connection reads. Called on the connection's shard, one call at a time.</summary>
internal interface IConnectionSink
{
    string Name { get; }

    void OnOpened(Connection connection);

    /// <summary>
    /// The most bytes of the next read; 0: none, and the sink resumes the connection later. Asked after a wait, not behind each read.
    /// <paramref name="pastLimits"/>: The connection is lost, and what the peer has sent is read whatever the limits say.
    /// </summary>
    int MostToRead(Connection connection, bool pastLimits);

    /// <summary>
    /// Gets what no earlier call has taken, with what was read now behind it, and takes the whole frames. If the bytes violate the
    /// protocol, the sink closes the connection.
    /// </summary>
    InboundResult OnBytes(Connection connection, in InboundBytes bytes);

    void OnFlushed(Connection connection)
    {
    }

    void OnPosted(Connection connection)
    {
    }

    /// <summary>In order, behind all input. Perhaps more than once.</summary>
    void OnInputEnded(Connection connection)
    {
    }

    void OnClosing(Connection connection, DisconnectReason reason, string? detail);

    void OnClosed(Connection connection);

    void OnFault(Connection connection, Exception exception);
}

/// <summary>
/// Valid during the call, unless the slab is referenced. <paramref name="OwnsSlab"/>: The slab holds only these bytes, and the connection
/// releases its reference after the call.
/// </summary>
internal readonly record struct InboundBytes(Slab Slab, int Offset, int Length, bool OwnsSlab)
{
    public ReadOnlySpan<byte> Span => Slab.Array.AsSpan(Offset, Length);
}

/// <summary>
/// What a sink has taken of the bytes, the size of the next frame (0: not known yet), and as <see cref="IConnectionSink.MostToRead"/> what
/// it takes next. <paramref name="UnfinishedBytes"/>: The memory of parts whose message is incomplete.
/// </summary>
internal readonly record struct InboundResult(int Consumed, int Frames, int NextFrameSize, int MostToRead, long UnfinishedBytes = 0);
