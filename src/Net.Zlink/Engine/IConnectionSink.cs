using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Engine;

/// <summary>Called on the connection's shard, one call at a time.</summary>
internal interface IConnectionSink
{
    bool RepliesSynchronously { get; }

    string Name { get; }

    long UnfinishedBytes => 0;

    void OnOpened(Connection connection);

    Delivery OnFrames(Connection connection, in InboundBatch batch);

    /// <summary>The peer's next bytes violate the protocol; whole frames before them were delivered.</summary>
    void OnBroken(Connection connection, uint announced) => connection.Close(
            DisconnectReason.ProtocolError,
            CloseMode.Orderly,
            $"a frame of {announced} bytes was announced; MaxMessageSize is {connection.Settings.MessageLimit}");

    /// <summary>The sink releases it and closes the connection.</summary>
    void OnUnfinished(Connection connection, string detail) =>
        connection.Close(DisconnectReason.UnfinishedByteLimit, CloseMode.Orderly, detail);

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

    bool MayRead(Connection connection);

    bool MayReadRemaining(Connection connection) => MayRead(connection);

    void OnClosing(Connection connection, DisconnectReason reason, string? detail);

    void OnClosed(Connection connection);

    void OnFault(Connection connection, Exception exception);
}

/// <summary>
/// Valid during the call, unless the slab is referenced. <paramref name="OwnsSlab"/>: The slab holds only this batch, and the connection
/// releases its reference after the call.
/// </summary>
internal readonly record struct InboundBatch(Slab Slab, int Offset, int Length, int Frames, bool OwnsSlab)
{
    public ReadOnlySpan<byte> Bytes => Slab.Array.AsSpan(Offset, Length);
}

internal enum Delivery
{
    Continue,

    Pause,
}

internal interface IFrameScanner
{
    FrameScan Scan(ReadOnlySpan<byte> bytes);

    /// <summary>The most to read, at least 1. Asked before each read, except within a long frame.</summary>
    int MaxBytesToRead(int kept) => int.MaxValue;
}

internal sealed class StreamScanner(long limit) : IFrameScanner
{
    public FrameScan Scan(ReadOnlySpan<byte> bytes) => StreamFraming.Scan(bytes, limit);
}
