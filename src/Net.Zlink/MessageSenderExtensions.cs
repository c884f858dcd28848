using System.Buffers;
using System.Runtime.CompilerServices;
using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>Further forms of sending: texts as messages of one part in UTF-8, transferred memory, and blocking sends of whole
/// messages.</summary>
/// <remarks>They are generic over the sender, so that a <see cref="PeerSender"/> is not boxed. For constant texts, "..."u8 is
/// cheaper.</remarks>
public static class MessageSenderExtensions
{
    /// <summary>Sends a text without waiting.</summary>
    /// <param name="sender">The socket or peer.</param>
    /// <param name="text">The text.</param>
    /// <typeparam name="TSender">The kind of sender.</typeparam>
    /// <returns>True if it was sent, else the reason.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static SendResult TrySend<TSender>(this TSender sender, string text)
        where TSender : IMessageSender
    {
        ThrowIfNull(sender, text);
        using var rented = new RentedBuilder();
        return sender.TrySend(rented.Message.Add(text));
    }

    /// <summary>Sends a text. Blocks the calling thread while no peer has capacity.</summary>
    /// <param name="sender">The socket or peer.</param>
    /// <param name="text">The text.</param>
    /// <param name="timeout">
    /// The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait, null for
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </param>
    /// <typeparam name="TSender">The kind of sender.</typeparam>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="TimeoutException">No peer had capacity in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; HostUnreachable: there is no such peer.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    public static void Send<TSender>(this TSender sender, string text, TimeSpan? timeout = null)
        where TSender : IMessageSender
    {
        ThrowIfNull(sender, text);
        using var rented = new RentedBuilder();
        sender.Send(rented.Message.Add(text), timeout);
    }

    /// <summary>Sends a text, and waits for capacity if needed.</summary>
    /// <param name="sender">The socket or peer.</param>
    /// <param name="text">The text.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <typeparam name="TSender">The kind of sender.</typeparam>
    /// <returns>A task that completes when the message is accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated; HostUnreachable: there is no such peer.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask SendAsync<TSender>(this TSender sender, string text, CancellationToken cancellationToken = default)
        where TSender : IMessageSender
    {
        ThrowIfNull(sender, text);
        MessageBuilder message = BuilderCache.Rent().Add(text);
        return BuilderCache.ReturnWhenSent(sender.SendAsync(message, cancellationToken), message);
    }

    /// <summary>
    /// Sends memory without a copy if it is long, and waits for capacity if needed. After an accepted send the library disposes it. If the
    /// send fails, it still belongs to the caller.
    /// </summary>
    /// <param name="sender">The socket or peer.</param>
    /// <param name="payload">The owner of the memory.</param>
    /// <param name="length">The length of the message in bytes.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <typeparam name="TSender">The kind of sender.</typeparam>
    /// <returns>A task that completes when the message is accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The memory has fewer bytes.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory; HostUnreachable: there is no such peer.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask SendAsync<TSender>(
        this TSender sender, IMemoryOwner<byte> payload, int length, CancellationToken cancellationToken = default)
        where TSender : IMessageSender
    {
        ThrowIfNull(sender, payload);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, payload.Memory.Length);
        return PeerOf(ref sender) is { } peer ? peer.SendAsync(payload, length, cancellationToken)
            : DisposeWhenSentAsync(sender.SendAsync(payload.Memory[..length], cancellationToken), payload);
    }

    /// <summary>Sends a message of several parts, whole or not at all. Blocks the calling thread while no peer has capacity.</summary>
    /// <param name="sender">The socket or peer.</param>
    /// <param name="message">A message of at least one part. Empty after it was accepted.</param>
    /// <param name="timeout">
    /// The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait, null for
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </param>
    /// <typeparam name="TSender">The kind of sender.</typeparam>
    /// <exception cref="TimeoutException">No peer had capacity in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory; HostUnreachable: there is no such peer.</exception>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="ArgumentException">The message has no part, or several with Conflate or to a STREAM peer.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    public static void Send<TSender>(this TSender sender, MessageBuilder message, TimeSpan? timeout = null)
        where TSender : IMessageSender
    {
        ThrowIfNull(sender, message);
        if (PeerOf(ref sender) is { } peer)
        {
            peer.Send(message, timeout);
        }
        else
        {
            Block(sender, message, timeout, static (to, parts, token) => to.SendAsync(parts, token));
        }
    }

    /// <summary>Forwards a received message without a copy of long parts. Blocks the calling thread while no peer has capacity.</summary>
    /// <param name="sender">The socket or peer.</param>
    /// <param name="message">A received message. Accepting it ends it, as Dispose does.</param>
    /// <param name="timeout">
    /// The longest wait: <see cref="Timeout.InfiniteTimeSpan"/> for no limit, zero for no wait, null for
    /// <see cref="SocketOptions.SendTimeout"/>.
    /// </param>
    /// <typeparam name="TSender">The kind of sender.</typeparam>
    /// <exception cref="TimeoutException">No peer had capacity in time.</exception>
    /// <exception cref="ZlinkException">ContextTerminated, or NoMemory; HostUnreachable: there is no such peer.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The socket or the message is disposed.</exception>
    /// <exception cref="InvalidOperationException">The message is empty, or it would have to wait on a shard.</exception>
    /// <exception cref="ArgumentException">It has several parts, with Conflate or to a STREAM peer. It still belongs to the
    /// caller.</exception>
    public static void Send<TSender>(this TSender sender, in Message message, TimeSpan? timeout = null)
        where TSender : IMessageSender
    {
        ThrowIfNull(sender);
        if (PeerOf(ref sender) is { } peer)
        {
            peer.Send(in message, timeout);
        }
        else
        {
            Block(sender, message, timeout, static (to, forwarded, token) => to.SendAsync(in forwarded, token));
        }
    }

    /// <summary>
    /// Forwards received messages in order without waiting, without a copy of long parts. Accepted ones are ended; the others still belong
    /// to the caller.
    /// </summary>
    /// <typeparam name="TSender">The sender.</typeparam>
    /// <param name="sender">The sender.</param>
    /// <param name="messages">Messages from <see cref="ReceivingSocket.ReceiveMany"/>.</param>
    /// <returns>How many were accepted, from the first on. Fewer than all if one would have to wait.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="sender"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed. The messages before it were sent.</exception>
    /// <exception cref="InvalidOperationException">A message is empty. The messages before it were sent.</exception>
    /// <exception cref="ArgumentException">A message has several parts, with Conflate. The messages before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    public static int SendMany<TSender>(this TSender sender, ReadOnlySpan<Message> messages)
        where TSender : IMessageSender
    {
        ThrowIfNull(sender);
        int sent = 0;
        try
        {
            while (sent < messages.Length && sender.TrySend(in Some(messages, sent)))
            {
                sent++;
            }
        }
        catch (ZlinkException) when (sent > 0)
        {
            // The number of accepted messages must be returned; the next call throws.
        }

        return sent;
    }

    /// <summary>Sends messages of one part each in order, without waiting.</summary>
    /// <typeparam name="TSender">The sender.</typeparam>
    /// <param name="sender">The sender.</param>
    /// <param name="payloads">The payloads, which are copied.</param>
    /// <returns>How many were accepted, from the first on. Fewer than all if one would have to wait.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="sender"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed. What was accepted before is sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be. Those before it were sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    public static int SendMany<TSender>(this TSender sender, ReadOnlySpan<ReadOnlyMemory<byte>> payloads)
        where TSender : IMessageSender
    {
        ThrowIfNull(sender);
        PeerSender? peer = PeerOf(ref sender);
        int sent = 0;
        try
        {
            // Where nothing can be sent at once, the way of a single message has the reason, or finds a peer.
            while (sent < payloads.Length)
            {
                int run = peer?.TrySendRun(payloads[sent..]) ?? 0;
                if (run == 0 && !sender.TrySend(payloads[sent].Span))
                {
                    break;
                }

                sent += Math.Max(run, 1);
            }
        }
        catch (ZlinkException) when (sent > 0)
        {
            // As above.
        }

        return sent;
    }

    /// <summary>
    /// Forwards received messages in order without a copy of long parts, and waits until all are accepted. Accepted ones are ended; the
    /// others still belong to the caller.
    /// </summary>
    /// <typeparam name="TSender">The sender.</typeparam>
    /// <param name="sender">The sender.</param>
    /// <param name="messages">Received messages. They must not change until the task completes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// How many were accepted, from the first on. Fewer than all only if the wait ended after the first one; the next call then fails with
    /// the reason. Allocates nothing.
    /// </returns>
    /// <exception cref="ArgumentNullException"><paramref name="sender"/> is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled. Nothing was sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The socket or a message is disposed. The messages before it were sent.</exception>
    /// <exception cref="InvalidOperationException">A message is empty. The messages before it were sent.</exception>
    /// <exception cref="ArgumentException">A message has several parts, with Conflate. The messages before it were sent.</exception>
    public static ValueTask<int> SendManyAsync<TSender>(
        this TSender sender, ReadOnlyMemory<Message> messages, CancellationToken cancellationToken = default)
        where TSender : IMessageSender => SendAllAsync(
            sender, messages, static (to, left) => to.SendMany(left), static (to, one, token) => to.SendAsync(in one, token),
            cancellationToken);

    /// <summary>Sends messages of one part each in order, and waits until all are accepted.</summary>
    /// <typeparam name="TSender">The sender.</typeparam>
    /// <param name="sender">The sender.</param>
    /// <param name="payloads">The payloads. They must not change until the task completes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// How many were accepted, from the first on. Fewer than all only if the wait ended after the first one; the next call then fails with
    /// the reason. Allocates nothing.
    /// </returns>
    /// <exception cref="ArgumentNullException"><paramref name="sender"/> is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled. Nothing was sent.</exception>
    /// <exception cref="ZlinkException">ContextTerminated. Nothing was sent.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed. What was accepted before is sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be. Those before it were sent.</exception>
    public static ValueTask<int> SendManyAsync<TSender>(
        this TSender sender, ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default)
        where TSender : IMessageSender => SendAllAsync(
            sender, payloads, static (to, left) => to.SendMany(left), static (to, one, token) => to.SendAsync(one, token),
            cancellationToken);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private static async ValueTask<int> SendAllAsync<TSender, TItem>(
        TSender sender, ReadOnlyMemory<TItem> items, Func<TSender, ReadOnlySpan<TItem>, int> sendMany,
        Func<TSender, TItem, CancellationToken, ValueTask> send, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        int sent = 0;
        try
        {
            while ((sent += sendMany(sender, items.Span[sent..])) < items.Length)
            {
                await send(sender, items.Span[sent], cancellation).ConfigureAwait(false);
                sent++;
            }
        }
        catch (Exception e) when (sent > 0 && (e is OperationCanceledException or TimeoutException or ZlinkException))
        {
            // As above.
        }

        return sent;
    }

    private static ref readonly Message Some(ReadOnlySpan<Message> messages, int index)
    {
        if (messages[index].IsNothing)
        {
            throw new InvalidOperationException(
                $"messages[{index}] holds no message, because it was never received; the {index} before it were sent. Pass only what "
                + $"ReceiveMany filled, such as batch.AsMemory(0, count).");
        }

        return ref messages[index];
    }

    /// <summary>A sender of another assembly has no blocking form, so its asynchronous one is awaited.</summary>
    private static void Block<TSender, TState>(
        TSender sender, TState state, TimeSpan? timeout, Func<TSender, TState, CancellationToken, ValueTask> send)
    {
        BlockingWait.ThrowIfOnShard(nameof(send));
        using var limit = new CancellationTokenSource(OptionRange.WaitTime(timeout) ?? Timeout.InfiniteTimeSpan);
        try
        {
#pragma warning disable RS0030 // The caller of this form asks for a blocked thread.
            send(sender, state, limit.Token).AsTask().GetAwaiter().GetResult();
#pragma warning restore RS0030
        }
        catch (OperationCanceledException e) when (limit.IsCancellationRequested)
        {
            throw new TimeoutException("No peer could accept the message in time.", e);
        }
    }

    /// <summary>Senders of the library have these forms themselves. A struct of another kind is not looked at, because that would box
    /// it.</summary>
    private static PeerSender? PeerOf<TSender>(ref TSender sender)
    {
        if (typeof(TSender) == typeof(PeerSender))
        {
            return Unsafe.As<TSender, PeerSender>(ref sender);
        }

        return typeof(TSender).IsValueType ? null : sender switch
        {
            ZmpSocket socket => new PeerSender(socket, default(RoutingId)), // Without an id: whichever peer the socket chooses.
            StreamPeer stream => new PeerSender(stream),
            _ => null,
        };
    }

    /// <summary>The sender has copied the memory, as its contract says.</summary>
    private static async ValueTask DisposeWhenSentAsync(ValueTask sending, IMemoryOwner<byte> payload)
    {
        await sending.ConfigureAwait(false);
        payload.Dispose();
    }

    /// <summary>A struct is not looked at, because that would box it.</summary>
    internal static void ThrowIfNull<TSender>(TSender sender)
    {
        if (!typeof(TSender).IsValueType)
        {
            ArgumentNullException.ThrowIfNull(sender);
        }
    }

    private static void ThrowIfNull<TSender>(
        TSender sender, object? argument, [CallerArgumentExpression(nameof(argument))] string? name = null)
    {
        ThrowIfNull(sender);
        ArgumentNullException.ThrowIfNull(argument, name);
    }
}
