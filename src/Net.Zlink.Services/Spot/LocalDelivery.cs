using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>Gives messages to the subscribers that take them: copies share the bytes, the last subscriber gets the message
/// itself.</summary>
internal static class LocalDelivery
{
    // On the stack: 64 bytes each.
    private const int BatchSize = 64;

    /// <summary>Takes the messages over. Each subscriber gets them in order, 64 under one lock.</summary>
    public static void Deliver(ReadOnlySpan<SpotMessage> messages, SubscriberQueue[] subscribers)
    {
        if (subscribers.Length == 1)
        {
            subscribers[0].Enqueue(messages);
            return;
        }

        if (messages.Length == 1)
        {
            DeliverOne(messages[0], subscribers);
            return;
        }

        for (; !messages.IsEmpty; messages = messages[Math.Min(BatchSize, messages.Length)..])
        {
            DeliverBatch(messages[..Math.Min(BatchSize, messages.Length)], subscribers);
        }
    }

    /// <summary>Takes one message over that comes behind a gap.</summary>
    public static void DeliverFirst(PeerStream stream, in SpotMessage message, SubscriberQueue[] subscribers)
    {
        for (int i = 0; i < subscribers.Length; i++)
        {
            SpotMessage delivered = stream.For(subscribers[i], i < subscribers.Length - 1 ? message.Copy() : message);
            subscribers[i].Enqueue(new ReadOnlySpan<SpotMessage>(in delivered));
        }
    }

    private static void DeliverBatch(ReadOnlySpan<SpotMessage> batch, SubscriberQueue[] subscribers)
    {
        var originals = default(Messages);
        var copies = default(Messages);
        var delivered = default(SpotMessages);
        for (int i = 0; i < batch.Length; i++)
        {
            originals[i] = batch[i].Whole;
        }

        foreach (SubscriberQueue subscriber in subscribers.AsSpan(0, subscribers.Length - 1))
        {
            Message.CopyMany(((ReadOnlySpan<Message>)originals)[..batch.Length], copies);
            for (int i = 0; i < batch.Length; i++)
            {
                delivered[i] = new SpotMessage(copies[i], batch[i].TopicText, batch[i].IsLocal);
            }

            subscriber.Enqueue(((ReadOnlySpan<SpotMessage>)delivered)[..batch.Length]);
        }

        subscribers[^1].Enqueue(batch);
    }

    private static void DeliverOne(SpotMessage message, SubscriberQueue[] subscribers)
    {
        foreach (SubscriberQueue subscriber in subscribers.AsSpan(0, subscribers.Length - 1))
        {
            SpotMessage copy = message.Copy();
            subscriber.Enqueue(new ReadOnlySpan<SpotMessage>(in copy));
        }

        subscribers[^1].Enqueue(new ReadOnlySpan<SpotMessage>(in message));
    }

    [InlineArray(BatchSize)]
    private struct Messages
    {
        private Message _first;
    }

    [InlineArray(BatchSize)]
    private struct SpotMessages
    {
        private SpotMessage _first;
    }
}
