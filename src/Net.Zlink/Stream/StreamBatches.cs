using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class StreamBatches(StreamHub hub, StreamSender sender)
{
    public int SendMany(uint peerId, ReadOnlySpan<StreamMessage> messages) =>
        hub.TryFind(peerId, out StreamLink link) ? SendMany(link, messages) : 0;

    public static int SendMany(StreamLink link, ReadOnlySpan<ReadOnlyMemory<byte>> payloads)
    {
        int sent = 0;
        while (sent < payloads.Length && link.TrySend(payloads[sent].Span) == SendStatus.Accepted)
        {
            sent++;
        }

        return sent;
    }

    public static int SendMany(StreamLink link, StreamFrames frames)
    {
        if (frames.Count == 0)
        {
            return 0;
        }

        if (frames.TrySendTo(link) == SendStatus.Accepted)
        {
            return frames.Count;
        }

        int sent = 0;
        foreach (ReadOnlyMemory<byte> frame in frames)
        {
            if (link.TrySend(frame.Span) != SendStatus.Accepted)
            {
                break;
            }

            sent++;
        }

        return sent;
    }

    public ValueTask<int> SendManyAsync(uint peerId, ReadOnlyMemory<StreamMessage> messages, CancellationToken cancellation) =>
        SendBatch.SendAllAsync(new MessageBatch(sender, sender.Find(peerId), messages), cancellation);

    public ValueTask<int> SendManyAsync(StreamLink link, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellation) =>
        SendBatch.SendAllAsync(new PayloadBatch(sender, link, payloads), cancellation);

    /// <summary>Accepting a message ends it.</summary>
    private static int SendMany(StreamLink link, ReadOnlySpan<StreamMessage> messages)
    {
        int sent = 0;
        SendStatus status = link.Connection is null ? link.Unframed : SendStatus.Accepted;
        while (status == SendStatus.Accepted && sent < messages.Length)
        {
            InboundRun run = StreamMessage.RunOf(messages[sent..]);
            status = Pass(run, link);
            if (status == SendStatus.Full && run.Count > 1)
            {
                run = run.First;
                status = Pass(run, link);
            }

            if (status == SendStatus.Accepted)
            {
                run.Release();
                sent += run.Count;
            }
        }

        return sent;
    }

    private static SendStatus Pass(in InboundRun run, StreamLink link)
    {
        (Buffers.Slab slab, int offset, int length) = run.Frames;
        return link.TrySend(slab, offset, length, run.Count);
    }

    private readonly struct MessageBatch(StreamSender sender, StreamLink link, ReadOnlyMemory<StreamMessage> messages) : ISendBatch
    {
        public int Count => messages.Length;

        public int SendSome(int from) => SendMany(link, messages.Span[from..]);

        public ValueTask SendAsync(int index, CancellationToken cancellation) =>
            sender.SendDeferredAsync(link, messages.Span[index].Defer(), cancellation);

        public void OnSent(int index) => messages.Span[index].Dispose();
    }

    private readonly struct PayloadBatch(StreamSender sender, StreamLink link, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads) : ISendBatch
    {
        public int Count => payloads.Length;

        public int SendSome(int from) => SendMany(link, payloads.Span[from..]);

        public ValueTask SendAsync(int index, CancellationToken cancellation) =>
            sender.SendAsync(link, payloads.Span[index], owner: null, cancellation);

        public void OnSent(int index)
        {
            // The send took no ownership.
        }
    }
}
