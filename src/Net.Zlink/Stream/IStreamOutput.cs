using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Where the payloads of a <see cref="StreamPeer"/> are queued: its socket, or a unit test of a handler.</summary>
internal interface IStreamOutput
{
    ZlinkError TrySend(StreamLink link, ReadOnlySpan<byte> payload);

    int SendMany(StreamLink link, StreamFrames frames, out ZlinkError error);

    int SendMany(StreamLink link, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error);

    ValueTask SendAsync(StreamLink link, ReadOnlyMemory<byte> payload, CancellationToken cancellation);

    ValueTask<int> SendManyAsync(StreamLink link, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellation);

    bool Disconnect(StreamLink link, CloseMode mode);
}
