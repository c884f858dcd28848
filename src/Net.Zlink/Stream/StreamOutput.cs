using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class StreamOutput(StreamHub hub, StreamSender sender, StreamBatches batches) : IStreamOutput
{
    public ZlinkError TrySend(StreamLink link, ReadOnlySpan<byte> payload) => StreamSender.ToError(StreamSender.TrySend(link, payload));

    public int SendMany(StreamLink link, StreamFrames frames, out ZlinkError error) => StreamBatches.SendMany(link, frames, out error);

    public int SendMany(StreamLink link, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error) =>
        StreamBatches.SendMany(link, payloads, out error);

    public ValueTask SendAsync(StreamLink link, ReadOnlyMemory<byte> payload, CancellationToken cancellation) =>
        sender.SendAsync(link, payload, cancellation);

    public ValueTask<int> SendManyAsync(
        StreamLink link, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellation) =>
        batches.SendManyAsync(link, payloads, cancellation);

    public bool Disconnect(StreamLink link, CloseMode mode) => hub.Disconnect(link.Id, mode);
}
