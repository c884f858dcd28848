using System.Runtime.CompilerServices;

namespace Net.Zlink;

/// <summary>Values in place of bytes: a message of one part, or of a topic and one part.</summary>
/// <remarks>Sending allocates nothing. Receiving allocates the value. A received message that has further parts in front, such as a topic,
/// is read by its last part.</remarks>
public static class TypedMessageExtensions
{
    /// <summary>Adds a value as a part.</summary>
    /// <param name="message">The message.</param>
    /// <param name="value">The value.</param>
    /// <param name="serializer">Writes it.</param>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <returns>The message.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public static MessageBuilder Add<T>(this MessageBuilder message, T value, IMessageSerializer serializer)
    {
        ArgumentNullException.ThrowIfNull(message);
        ArgumentNullException.ThrowIfNull(serializer);
        serializer.Serialize(value, message);
        return message.EndPart();
    }

    /// <summary>Reads the value of a received message, which stays the caller's.</summary>
    /// <param name="message">The message.</param>
    /// <param name="serializer">Reads it.</param>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <returns>The value of the last part, before a part with a trace context.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="serializer"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The message is disposed.</exception>
    /// <exception cref="Exception">The bytes are no such value: the serializer's exception.</exception>
    public static T Read<T>(this in Message message, IMessageSerializer serializer)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        int last = message.PartCount - 1;
        return serializer.Deserialize<T>(message[last > 0 && TraceContextPart.IsOne(message[last].Span) ? last - 1 : last].Span);
    }

    /// <summary>Sends a value if that need not wait.</summary>
    /// <param name="sender">Where.</param>
    /// <param name="value">The value.</param>
    /// <param name="serializer">Writes it.</param>
    /// <typeparam name="TSender">The kind of sender.</typeparam>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <returns>True if it was sent, else the reason.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static SendResult TrySend<TSender, T>(this TSender sender, T value, IMessageSerializer serializer)
        where TSender : IMessageSender
    {
        MessageSenderExtensions.ThrowIfNull(sender);
        using var rented = new RentedBuilder();
        return sender.TrySend(rented.Message.Add(value, serializer));
    }

    /// <summary>Sends a value, and waits for capacity if needed.</summary>
    /// <param name="sender">Where.</param>
    /// <param name="value">The value.</param>
    /// <param name="serializer">Writes it, before the call returns.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <typeparam name="TSender">The kind of sender.</typeparam>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask SendAsync<TSender, T>(
        this TSender sender, T value, IMessageSerializer serializer, CancellationToken cancellationToken = default)
        where TSender : IMessageSender
    {
        MessageSenderExtensions.ThrowIfNull(sender);
        return SendWithAsync(sender, BuilderCache.Rent(), value, serializer, cancellationToken);
    }

    /// <summary>Publishes a value: a message of two parts, the topic and the value.</summary>
    /// <param name="publisher">Where: PUB or XPUB.</param>
    /// <param name="topic">What subscriptions are compared with.</param>
    /// <param name="value">The value.</param>
    /// <param name="serializer">Writes it, before the call returns.</param>
    /// <param name="cancellationToken">Ends the wait; nothing is sent then.</param>
    /// <typeparam name="TSender">The kind of sender.</typeparam>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <returns>Complete when the message was accepted.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static ValueTask PublishAsync<TSender, T>(this TSender publisher, string topic, T value, IMessageSerializer serializer,
        CancellationToken cancellationToken = default)
        where TSender : IMessageSender
    {
        MessageSenderExtensions.ThrowIfNull(publisher);
        ArgumentNullException.ThrowIfNull(topic);
        return SendWithAsync(publisher, BuilderCache.Rent().Add(topic), value, serializer, cancellationToken);
    }

    /// <summary>Waits for the next value.</summary>
    /// <param name="receiver">Where.</param>
    /// <param name="serializer">Reads it.</param>
    /// <param name="cancellationToken">Ends the wait; no message is lost by it.</param>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <returns>The value.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="Exception">The bytes are no such value: the serializer's exception. The message is dropped.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public static async ValueTask<T> ReceiveAsync<T>(
        this IMessageReceiver receiver, IMessageSerializer serializer, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(receiver);
        using Message message = await receiver.ReceiveAsync(cancellationToken).ConfigureAwait(false);
        return message.Read<T>(serializer);
    }

    /// <summary>All values until the socket is disposed or its context shut down; then the enumeration ends.</summary>
    /// <param name="receiver">Where.</param>
    /// <param name="serializer">Reads them.</param>
    /// <param name="onMalformed">Called for a message that is no such value, which is dropped then. Null: its exception ends the
    /// enumeration, so any peer can end it.</param>
    /// <param name="cancellationToken">Ends the enumeration with an exception; no message is lost by it.</param>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <returns>The values.</returns>
    public static IAsyncEnumerable<T> ReceiveAllAsync<T>(
        this IMessageReceiver receiver, IMessageSerializer serializer, Action<Exception>? onMalformed = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(receiver);
        ArgumentNullException.ThrowIfNull(serializer);
        return ReadAllAsync(
            receiver.ReceiveAllAsync(cancellationToken), message => message.Read<T>(serializer), onMalformed, cancellationToken);
    }

    /// <summary>Subscribes, and gives all values of the socket: each subscription has a socket of its own. The subscription ends with the
    /// enumeration.</summary>
    /// <param name="socket">Where.</param>
    /// <param name="topic">The beginning of the topics; empty: all of them.</param>
    /// <param name="serializer">Reads the values.</param>
    /// <param name="onMalformed">As for <see cref="ReceiveAllAsync"/>.</param>
    /// <param name="cancellationToken">Ends the enumeration with an exception.</param>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <returns>The values.</returns>
    public static IAsyncEnumerable<T> SubscribeAsync<T>(
        this SubSocket socket, string topic, IMessageSerializer serializer, Action<Exception>? onMalformed = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(socket);
        ArgumentNullException.ThrowIfNull(serializer);
        return ReadAllAsync(
            ReceiveSubscribedAsync(socket, topic, cancellationToken), message => message.Read<T>(serializer), onMalformed,
            cancellationToken);
    }

    /// <summary>Subscribes, and gives what a function reads from each message of the socket, for as long as the enumeration runs.</summary>
    /// <param name="socket">Where: each subscription has a socket of its own.</param>
    /// <param name="topic">The beginning of the topics; empty: all of them.</param>
    /// <param name="read">Reads all parts of a message, which is disposed when it returns. An exception of it ends the enumeration.</param>
    /// <param name="cancellationToken">Ends the enumeration with an exception.</param>
    /// <typeparam name="T">What it reads.</typeparam>
    /// <returns>The values, until the socket is disposed or its context shut down.</returns>
    public static IAsyncEnumerable<T> SubscribeAsync<T>(
        this SubSocket socket, string topic, Func<Message, T> read, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(socket);
        ArgumentNullException.ThrowIfNull(read);
        return ReadAllAsync(ReceiveSubscribedAsync(socket, topic, cancellationToken), read, onMalformed: null, cancellationToken);
    }

    private static async IAsyncEnumerable<Message> ReceiveSubscribedAsync(
        SubSocket socket, string topic, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        socket.Subscribe(topic);
        try
        {
            await foreach (Message message in socket.ReceiveAllAsync(cancellationToken).ConfigureAwait(false))
            {
                yield return message;
            }
        }
        finally
        {
            Unsubscribe(socket, topic);
        }
    }

    private static void Unsubscribe(SubSocket socket, string topic)
    {
        try
        {
            socket.Unsubscribe(topic);
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            // The socket has ended, and its subscriptions with it.
        }
    }

    private static async IAsyncEnumerable<T> ReadAllAsync<T>(
        IAsyncEnumerable<Message> messages, Func<Message, T> read, Action<Exception>? onMalformed,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (Message message in messages.WithCancellation(cancellationToken).ConfigureAwait(false))
        {
            T value;
            try
            {
                using (message)
                {
                    value = read(message);
                }
            }
            catch (Exception e) when (onMalformed is not null && e is not ObjectDisposedException)
            {
                onMalformed(e);
                continue;
            }

            yield return value;
        }
    }

    private static ValueTask SendWithAsync<TSender, T>(
        TSender sender, MessageBuilder message, T value, IMessageSerializer serializer, CancellationToken cancellation)
        where TSender : IMessageSender
    {
        try
        {
            message.Add(value, serializer);
        }
        catch (Exception e)
        {
            BuilderCache.Return(message);
            return ValueTask.FromException(e);
        }

        return BuilderCache.ReturnWhenSent(sender.SendAsync(message, cancellation), message);
    }
}
