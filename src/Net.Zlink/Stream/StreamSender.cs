using System.Buffers;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

internal sealed class StreamSender : IStreamOutput
{
    private readonly StreamHub _hub;
    private readonly StreamOptions _options;
    private readonly SendWaits _waits;

    public StreamSender(StreamHub hub, StreamOptions options)
    {
        _hub = hub;
        _options = options;
        _waits = new SendWaits(hub, ErrorOf);
    }

    /// <summary>Always the same object for a link.</summary>
    public StreamPeer PeerOf(StreamLink link) => (StreamPeer)(link.View ?? link.SetView(new StreamPeer(this, link)));

    public bool Disconnect(StreamLink link, CloseMode mode) => _hub.Disconnect(link.Id, mode);

    public SendResult TrySend(StreamLink link, ReadOnlySpan<byte> payload)
    {
        CheckLength(payload.Length);
        return ToResult(link.TrySend(payload));
    }

    public void Send(StreamLink link, ReadOnlySpan<byte> payload, TimeSpan? timeout)
    {
        CheckLength(payload.Length);
        SendStatus status = link.TrySend(payload);
        if (status == SendStatus.Full && (timeout ?? _options.SendTimeout) is var limit && limit != TimeSpan.Zero)
        {
            BlockingWait.ThrowIfOnShard(nameof(SendAsync));
            status = _waits.Block(new SendTarget(link.RouteOf(stackalloc byte[sizeof(uint)])), payload, limit);
        }

        ThrowUnlessAccepted(status, link.Id);
    }

    /// <summary>Takes ownership of the owner if the send succeeds, and disposes it after the write.</summary>
    public ValueTask SendAsync(
        StreamLink link, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner, in Message forwarded, CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellation);
        }

        CheckLength(payload.Length);
        return SendDeferredAsync(link, new DeferredMessage(payload, owner), forwarded, cancellation);
    }

    private ValueTask SendDeferredAsync(
        StreamLink link, in DeferredMessage message, in Message forwarded, CancellationToken cancellation)
    {
        if (link.Framed is null)
        {
            throw ErrorOf(link.Unframed, link.Id);
        }

        SendStatus status = link.TrySend(message.AsOutgoing());
        if (status == SendStatus.Full)
        {
            return _waits.WaitAsync(
                new SendTarget(link.RouteOf(stackalloc byte[sizeof(uint)])), message, link.Id, forwarded, cancellation);
        }

        ThrowUnlessAccepted(status, link.Id);
        forwarded.Dispose();
        return default;
    }

    public int SendMany(uint peerId, ReadOnlySpan<StreamMessage> messages) =>
        _hub.TryFind(peerId, out StreamLink link) ? SendMany(link, messages) : 0;

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> SendManyAsync(uint peerId, ReadOnlyMemory<StreamMessage> messages, CancellationToken cancellation)
    {
        StreamLink link = _hub.TryFind(peerId, out StreamLink found) ? found : throw Unreachable(peerId);
        cancellation.ThrowIfCancellationRequested();
        int sent = 0;
        try
        {
            while ((sent += SendMany(link, messages.Span[sent..])) < messages.Length)
            {
                await SendDeferredAsync(link, messages.Span[sent].Defer(), default, cancellation).ConfigureAwait(false);
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
        (Slab slab, int offset, int length) = run.Frames;
        return link.TrySend(slab, offset, length, run.Count);
    }

    public int Broadcast(ReadOnlySpan<uint> peerIds, ReadOnlySpan<byte> payload)
    {
        CheckLength(payload.Length);
        int length = StreamFraming.HeaderSize + payload.Length;
        Slab? encoded = null;
        int taken = 0;
        foreach (uint id in peerIds)
        {
            if (_hub.TryFind(id, out StreamLink link) && link.Framed is not null && (encoded ??= Encode(payload, length)) is { } shared
                && link.TrySend(shared, 0, length, frames: 1) == SendStatus.Accepted)
            {
                taken++;
            }
        }

        encoded?.Release();
        return taken;
    }

    /// <summary>Null: no memory, or the context has ended since the peer was found, with its pool.</summary>
    private Slab? Encode(ReadOnlySpan<byte> payload, int length)
    {
        try
        {
            Slab encoded = _hub.Host.Slabs.Rent(length);
            StreamFraming.WriteFrame(encoded.Array, payload);
            return encoded;
        }
        catch (Exception e) when (e is ObjectDisposedException or OutOfMemoryException)
        {
            return null;
        }
    }

    private static void ThrowUnlessAccepted(SendStatus status, uint peerId)
    {
        if (status != SendStatus.Accepted)
        {
            throw ErrorOf(status, peerId);
        }
    }

    private static Exception ErrorOf(SendStatus status, uint peerId) => status switch
    {
        SendStatus.Full => new TimeoutException(
            $"peer {peerId} is at its high-water mark, or the context at its QueuedByteLimit: it does not read as fast as this side sends"),
        SendStatus.NoMemory => ZlinkException.NoMemory(),
        SendStatus.NotFramed => new ZlinkException(ZlinkError.NotSupported, $"peer {peerId} is a pipe: write to its Output"),
        _ => Unreachable(peerId),
    };

    private static ZlinkException Unreachable(uint peerId) =>
        new(ZlinkError.HostUnreachable, $"there is no peer {peerId}: unknown or disconnected");

    private static SendResult ToResult(SendStatus status) => status switch
    {
        SendStatus.Accepted => SendFailure.None,
        SendStatus.Full => SendFailure.Full,
        SendStatus.NotFramed => SendFailure.IsPipe,
        SendStatus.NoMemory => SendFailure.NoMemory,
        _ => SendFailure.NoPeer,
    };

    private static void CheckLength(int payloadLength)
    {
        if (payloadLength > StreamFraming.LargestPayload)
        {
            throw new ArgumentException($"A frame holds at most {StreamFraming.LargestPayload} bytes.", nameof(payloadLength));
        }
    }
}

/// <summary>Where the payloads of a <see cref="StreamPeer"/> are queued: its socket, or a unit test of a handler.</summary>
internal interface IStreamOutput
{
    SendResult TrySend(StreamLink link, ReadOnlySpan<byte> payload);

    /// <summary><paramref name="timeout"/>: null: the option, which is read only before a wait.</summary>
    void Send(StreamLink link, ReadOnlySpan<byte> payload, TimeSpan? timeout);

    /// <summary>
    /// <paramref name="owner"/>: disposed after an accepted send, or null. <paramref name="forwarded"/>: the message that has the payload,
    /// disposed when it is sent, or default.
    /// </summary>
    ValueTask SendAsync(
        StreamLink link, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner, in Message forwarded, CancellationToken cancellation);

    bool Disconnect(StreamLink link, CloseMode mode);
}

/// <summary>Passes what a handler sends to its unit test: <see cref="StreamPeer.Create"/>.</summary>
internal sealed class TestStreamOutput(Func<ReadOnlyMemory<byte>, SendResult> send) : IStreamOutput
{
    public SendResult TrySend(StreamLink link, ReadOnlySpan<byte> payload) =>
        link.HasEnded ? SendFailure.NoPeer : send(payload.ToArray());

    public void Send(StreamLink link, ReadOnlySpan<byte> payload, TimeSpan? timeout)
    {
        SendResult result = TrySend(link, payload);
        if (!result)
        {
            throw Refusal(result);
        }
    }

    public ValueTask SendAsync(
        StreamLink link, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner, in Message forwarded, CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellation);
        }

        SendResult result = TrySend(link, payload.Span);
        if (!result)
        {
            return ValueTask.FromException(Refusal(result));
        }

        owner?.Dispose();
        forwarded.Dispose();
        return ValueTask.CompletedTask;
    }

    public bool Disconnect(StreamLink link, CloseMode mode) => link.TryEnd(DisconnectReason.Local, out _);

    private static Exception Refusal(SendResult result)
    {
        const string Words = "the peer was created for a test and refused the payload";
        return result.Reason switch
        {
            SendFailure.Full => new TimeoutException(Words),
            SendFailure.NoMemory => new ZlinkException(ZlinkError.NoMemory, Words),
            SendFailure.IsPipe => new ZlinkException(ZlinkError.NotSupported, Words),
            _ => new ZlinkException(ZlinkError.HostUnreachable, Words),
        };
    }
}
