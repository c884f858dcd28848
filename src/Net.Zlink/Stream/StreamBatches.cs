using System.Runtime.CompilerServices;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class StreamBatches(StreamHub hub, StreamSender sender)
{
    public int SendMany(uint peerId, ReadOnlySpan<StreamMessage> messages) =>
        hub.TryFind(peerId, out StreamLink link) ? SendMany(link, messages) : 0;

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

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> SendManyAsync(uint peerId, ReadOnlyMemory<StreamMessage> messages, CancellationToken cancellation)
    {
        StreamLink link = sender.Find(peerId);
        cancellation.ThrowIfCancellationRequested();
        int sent = 0;
        try
        {
            while ((sent += SendMany(link, messages.Span[sent..])) < messages.Length)
            {
                await sender.SendDeferredAsync(link, messages.Span[sent].Defer(), cancellation).ConfigureAwait(false);
                messages.Span[sent].Dispose();
                sent++;
            }
        }
        catch (Exception e) when (sent > 0 && (e is OperationCanceledException or ZlinkException))
        {
            // The number of accepted messages must be returned; the next call throws.
        }

        return sent;
    }

    private static int SendMany(StreamLink link, ReadOnlySpan<StreamMessage> messages)
    {
        int sent = 0;
        SendStatus status = link.Framed is null ? link.Unframed : SendStatus.Accepted;
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
}
