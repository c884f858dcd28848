using System.Buffers;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>How a publication leaves: to the peers first, where it can fail, then to the node's own subscribers. So one that fails has been
/// delivered nowhere. Safe for any number of threads.</summary>
internal sealed class PublishPath : IDisposable
{
    private const int RunLength = 64;

    private readonly TopicIndex _index;
    private readonly MessageBuilderPool _builders;
    private PubSocket? _socket;
    private bool _isDisposed;
    private long _published;
    private long _refused;

    public PublishPath(MessageBuilderPool builders, TopicIndex index, SpotNodeOptions options, ZlinkContext context)
    {
        _index = index;
        _builders = builders;
        Queue = options.PublishQueueCapacity == 0 ? null : new PublishQueue(options, context, index, PublishQueuedAsync);
    }

    public PublishQueue? Queue { get; }

    /// <summary>To the peers; null as long as the node is not bound.</summary>
    public PubSocket? Socket
    {
        get => Volatile.Read(ref _socket);
        set => Volatile.Write(ref _socket, value);
    }

    public long Published => Interlocked.Read(ref _published);

    public long Refused => Interlocked.Read(ref _refused);

    /// <param name="name">The bytes of the topic, which a shared entry has not.</param>
    /// <param name="topic">Its entry.</param>
    /// <param name="payload">The one part.</param>
    public SendResult TryPublish(ReadOnlySpan<byte> name, TopicEntry topic, ReadOnlySpan<byte> payload) =>
        TryPublish(Begin(name).Add(payload), topic);

    /// <summary>The parts are the caller's, and empty if they were accepted.</summary>
    public SendResult TryPublish(ReadOnlySpan<byte> name, TopicEntry topic, MessageBuilder parts)
    {
        SendResult result = TryPublish(BeginWith(name, parts), topic);
        if (result)
        {
            parts.Clear();
        }

        return result;
    }

    /// <summary>Passes a received message on: disposed if it was accepted.</summary>
    public SendResult TryPublish(ReadOnlySpan<byte> name, TopicEntry topic, in Message message)
    {
        SendResult result = TryPublish(BeginWith(name, message), topic);
        if (result)
        {
            message.Dispose();
        }

        return result;
    }

    public ValueTask PublishAsync(
        ReadOnlySpan<byte> name, TopicEntry topic, ReadOnlyMemory<byte> payload, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        return PublishAsync(Begin(name).Add(payload.Span), topic, cancellationToken);
    }

    /// <summary>The parts are the caller's until the task completes, and empty if that was without a failure.</summary>
    public ValueTask PublishAsync(
        ReadOnlySpan<byte> name, TopicEntry topic, MessageBuilder parts, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        return PublishAndClearAsync(BeginWith(name, parts), topic, parts, cancellationToken);
    }

    /// <summary>Publishes until one is not accepted. Peers and the node's own subscribers get runs of 64 under one lock. The entry is the
    /// topic's own.</summary>
    public int PublishMany(TopicEntry topic, ReadOnlySpan<ReadOnlyMemory<byte>> payloads)
    {
        ThrowIfDisposed();
        int accepted = 0;
        if (Queue is not null)
        {
            while (accepted < payloads.Length && TryPublish(topic.Bytes, topic, payloads[accepted].Span))
            {
                accepted++;
            }

            return accepted;
        }

        while (accepted < payloads.Length)
        {
            ReadOnlySpan<ReadOnlyMemory<byte>> run = payloads[accepted..Math.Min(accepted + RunLength, payloads.Length)];
            int sent = Socket?.SendMany(topic.Bytes, run) ?? run.Length;
            Interlocked.Add(ref _published, sent);
            DeliverLocally(run[..sent], topic);
            accepted += sent;
            if (sent < run.Length)
            {
                Interlocked.Increment(ref _refused);
                break;
            }
        }

        return accepted;
    }

    /// <summary>What is queued is dropped and counted.</summary>
    public void Dispose()
    {
        Volatile.Write(ref _isDisposed, true);
        Queue?.DropAll();
        _builders.Dispose();
    }

    private async ValueTask PublishAndClearAsync(
        MessageBuilder whole, TopicEntry topic, MessageBuilder parts, CancellationToken cancellationToken)
    {
        await PublishAsync(whole, topic, cancellationToken).ConfigureAwait(false);
        parts.Clear();
    }

    private MessageBuilder Begin(ReadOnlySpan<byte> name)
    {
        ThrowIfDisposed();
        return _builders.Rent().Add(name);
    }

    private void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(Volatile.Read(ref _isDisposed), "Net.Zlink.Services.SpotNode");

    private MessageBuilder BeginWith(ReadOnlySpan<byte> name, MessageBuilder parts)
    {
        ArgumentNullException.ThrowIfNull(parts);
        ThrowIfEmpty(parts.Count, nameof(parts));
        return Begin(name).AddParts(parts);
    }

    private MessageBuilder BeginWith(ReadOnlySpan<byte> name, in Message message)
    {
        ThrowIfEmpty(message.PartCount, nameof(message));
        MessageBuilder builder = Begin(name);
        for (int i = 0; i < message.PartCount; i++)
        {
            builder.Add(message[i].Span);
        }

        return builder;
    }

    private static void ThrowIfEmpty(int parts, string argument)
    {
        if (parts == 0)
        {
            throw new ArgumentException("A publication needs at least one part besides its topic: add one.", argument);
        }
    }

    /// <summary>Returns the builder.</summary>
    private SendResult TryPublish(MessageBuilder builder, TopicEntry topic)
    {
        try
        {
            SendResult result = TryDeliver(builder, topic, out Message refused);
            if (!result)
            {
                Refuse(refused);
            }

            return result;
        }
        finally
        {
            _builders.Return(builder);
        }
    }

    /// <summary>Counts accepted messages. A message that was not accepted stays the caller's.</summary>
    private SendResult TryDeliver(MessageBuilder builder, TopicEntry topic, out Message message)
    {
        message = default;
        SendResult result = SendResult.Sent;
        bool isForPeersOnly = Queue is null && topic.Subscribers.Length == 0;
        if (isForPeersOnly && (Socket is not { } socket || (result = socket.TrySend(builder))))
        {
            Interlocked.Increment(ref _published);
            return result; // The builder itself was sent.
        }

        message = builder.ToMessage();
        if (!isForPeersOnly)
        {
            result = Queue is null ? TrySend(message) : Queue.TryEnqueue(message, topic) ? SendFailure.None : SendFailure.Full;
        }

        if (!result)
        {
            return result;
        }

        Interlocked.Increment(ref _published);
        if (Queue is null)
        {
            DeliverLocally(message, topic);
        }

        return result;
    }

    /// <summary>Sends a copy to the peers. The message stays the caller's unless this throws.</summary>
    private SendResult TrySend(Message message)
    {
        if (Socket is not { } socket)
        {
            return SendResult.Sent;
        }

        Message copy = message.Copy();
        SendResult result = default;
        try
        {
            result = socket.TrySend(in copy);
        }
        catch
        {
            message.Dispose();
            throw;
        }
        finally
        {
            if (!result)
            {
                copy.Dispose();
            }
        }

        return result;
    }

    /// <summary>Returns the builder.</summary>
    private ValueTask PublishAsync(MessageBuilder builder, TopicEntry topic, CancellationToken cancellationToken)
    {
        try
        {
            return TryDeliver(builder, topic, out Message waiting) ? ValueTask.CompletedTask : WaitAsync(waiting, topic, cancellationToken);
        }
        finally
        {
            _builders.Return(builder);
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WaitAsync(Message message, TopicEntry topic, CancellationToken cancellationToken)
    {
        try
        {
            if (Queue is { } queue)
            {
                await queue.EnqueueAsync(message, topic, cancellationToken).ConfigureAwait(false);
            }
            else
            {
                await SendAsync(message, cancellationToken).ConfigureAwait(false);
                DeliverLocally(message, _index.Refresh(topic, message.Span));
            }
        }
        catch
        {
            Refuse(message);
            throw;
        }

        Interlocked.Increment(ref _published);
    }

    private void Refuse(Message message)
    {
        message.Dispose();
        Interlocked.Increment(ref _refused);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask SendAsync(Message message, CancellationToken cancellationToken)
    {
        if (Socket is not { } socket)
        {
            return;
        }

        Message copy = message.Copy();
        try
        {
            await socket.SendAsync(in copy, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            copy.Dispose();
            throw;
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask PublishQueuedAsync(Message message, TopicEntry topic, CancellationToken cancellationToken)
    {
        try
        {
            await SendAsync(message, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            message.Dispose();
            throw;
        }

        DeliverLocally(message, topic);
    }

    private void DeliverLocally(ReadOnlySpan<ReadOnlyMemory<byte>> payloads, TopicEntry topic)
    {
        if (topic.Subscribers.Length == 0 || payloads.IsEmpty)
        {
            return;
        }

        MessageBuilder builder = _builders.Rent();
        SpotMessage[] run = ArrayPool<SpotMessage>.Shared.Rent(payloads.Length);
        for (int i = 0; i < payloads.Length; i++)
        {
            run[i] = new SpotMessage(builder.Add(topic.Bytes).Add(payloads[i].Span).ToMessage(), topic.Text, isLocal: true);
        }

        LocalDelivery.Deliver(run.AsSpan(0, payloads.Length), topic.Subscribers);
        ArrayPool<SpotMessage>.Shared.Return(run, clearArray: true);
        _builders.Return(builder);
    }

    /// <summary>Takes the message over.</summary>
    private static void DeliverLocally(Message message, TopicEntry topic)
    {
        if (topic.Subscribers.Length == 0)
        {
            message.Dispose();
            return;
        }

        var local = new SpotMessage(message, topic.Text, isLocal: true);
        LocalDelivery.Deliver(new ReadOnlySpan<SpotMessage>(in local), topic.Subscribers);
    }
}
