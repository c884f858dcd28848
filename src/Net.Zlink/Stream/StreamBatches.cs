using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class StreamBatches(StreamHub hub, StreamSender sender)
{
    public int SendMany(uint peerId, ReadOnlySpan<StreamMessage> messages, out ZlinkError error)
    {
        error = ZlinkError.HostUnreachable;
        return hub.TryFind(peerId, out StreamLink link) ? SendMany(link, messages, out error) : 0;
    }

    public int SendMany(uint peerId, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error)
    {
        error = ZlinkError.HostUnreachable;
        return hub.TryFind(peerId, out StreamLink link) ? SendMany(link, payloads, out error) : 0;
    }

    public static int SendMany(StreamLink link, ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error)
    {
        int sent = 0;
        SendStatus status = Begin(link);
        while (status == SendStatus.Accepted && sent < payloads.Length)
        {
            status = StreamSender.TrySend(link, payloads[sent].Span);
            sent += status == SendStatus.Accepted ? 1 : 0;
        }

        error = StreamSender.ToError(status);
        return sent;
    }

    public static int SendMany(StreamLink link, StreamFrames frames, out ZlinkError error)
    {
        error = ZlinkError.None;
        if (frames.Count == 0)
        {
            return 0;
        }

        if (link.Connection is not { } connection)
        {
            error = ZlinkError.NotSupported;
            return 0;
        }

        SendStatus status = frames.TryAppendTo(connection.Outbound, out bool schedule);
        StreamSender.Schedule(connection, schedule);
        if (status == SendStatus.Accepted)
        {
            return frames.Count;
        }

        int sent = 0;
        foreach (ReadOnlyMemory<byte> frame in frames)
        {
            status = StreamSender.TrySend(link, frame.Span);
            if (status != SendStatus.Accepted)
            {
                break;
            }

            sent++;
        }

        error = StreamSender.ToError(status);
        return sent;
    }

    public ValueTask<int> SendManyAsync(uint peerId, ReadOnlyMemory<StreamMessage> messages, CancellationToken cancellation) =>
        SendBatch.SendAllAsync(new MessageBatch(sender, sender.Find(peerId), messages), cancellation);

    public ValueTask<int> SendManyAsync(uint peerId, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellation) =>
        SendManyAsync(sender.Find(peerId), payloads, cancellation);

    public ValueTask<int> SendManyAsync(StreamLink link, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellation) =>
        SendBatch.SendAllAsync(new PayloadBatch(sender, link, payloads), cancellation);

    /// <summary>Accepting a message ends it.</summary>
    private static int SendMany(StreamLink link, ReadOnlySpan<StreamMessage> messages, out ZlinkError error)
    {
        int sent = 0;
        SendStatus status = Begin(link);
        while (status == SendStatus.Accepted && sent < messages.Length)
        {
            InboundRun run = StreamMessage.RunOf(messages[sent..]);
            status = Pass(run, link.Connection!);
            if (status == SendStatus.Full && run.Count > 1)
            {
                run = run.First;
                status = Pass(run, link.Connection!);
            }

            if (status == SendStatus.Accepted)
            {
                run.Release();
                sent += run.Count;
            }
        }

        error = StreamSender.ToError(status);
        return sent;
    }

    private static SendStatus Begin(StreamLink link) => link.Connection is null ? SendStatus.NotFramed : SendStatus.Accepted;

    private static SendStatus Pass(in InboundRun run, Connection connection)
    {
        SendStatus status = run.TryAppendTo(connection.Outbound, out bool schedule);
        StreamSender.Schedule(connection, schedule);
        return status;
    }

    private readonly struct MessageBatch(StreamSender sender, StreamLink link, ReadOnlyMemory<StreamMessage> messages) : ISendBatch
    {
        public int Count => messages.Length;

        public int SendSome(int from) => SendMany(link, messages.Span[from..], out _);

        public ValueTask SendAsync(int index, CancellationToken cancellation) =>
            sender.SendDeferredAsync(link, messages.Span[index].Defer(), cancellation);

        public void OnSent(int index) => messages.Span[index].Dispose();
    }

    private readonly struct PayloadBatch(StreamSender sender, StreamLink link, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads) : ISendBatch
    {
        public int Count => payloads.Length;

        public int SendSome(int from) => SendMany(link, payloads.Span[from..], out _);

        public ValueTask SendAsync(int index, CancellationToken cancellation) => sender.SendAsync(link, payloads.Span[index], cancellation);

        public void OnSent(int index)
        {
            // The send took no ownership.
        }
    }
}
