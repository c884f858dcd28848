using System.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class StreamOutput(StreamHub hub, StreamSender sender) : IStreamOutput
{
    public SendResult TrySend(StreamLink link, ReadOnlySpan<byte> payload) => StreamSender.TrySend(link, payload);

    public void Send(StreamLink link, ReadOnlySpan<byte> payload, TimeSpan? timeout) => sender.Send(link, payload, timeout);

    public ValueTask SendAsync(StreamLink link, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner, CancellationToken cancellation) =>
        sender.SendAsync(link, payload, owner, cancellation);

    public int SendMany(StreamLink link, StreamFrames frames) => StreamBatches.SendMany(link, frames);

    public bool Disconnect(StreamLink link, CloseMode mode) => hub.Disconnect(link.Id, mode);
}
