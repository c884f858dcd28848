namespace Net.Zlink.Services;

/// <summary>Gives messages to the subscribers that take them: copies share the bytes, the last subscriber gets the message
/// itself.</summary>
internal static class LocalDelivery
{
    // On the stack: 32 bytes each.
    private const int BatchSize = 64;

    /// <summary>Takes the messages over. Each subscriber gets them in order, 64 under one lock.</summary>
    public static void Deliver(ReadOnlySpan<SpotMessage> messages, SubscriberQueue[] takers)
    {
        if (takers.Length == 1)
        {
            takers[0].Enqueue(messages);
            return;
        }

        if (messages.Length == 1)
        {
            DeliverOne(messages[0], takers);
            return;
        }

        var copies = default(Copies);
        for (; !messages.IsEmpty; messages = messages[Math.Min(BatchSize, messages.Length)..])
        {
            ReadOnlySpan<SpotMessage> batch = messages[..Math.Min(BatchSize, messages.Length)];
            foreach (SubscriberQueue taker in takers.AsSpan(0, takers.Length - 1))
            {
                for (int i = 0; i < batch.Length; i++)
                {
                    copies[i] = batch[i].Copy();
                }

                taker.Enqueue(((ReadOnlySpan<SpotMessage>)copies)[..batch.Length]);
            }

            takers[^1].Enqueue(batch);
        }
    }

    private static void DeliverOne(SpotMessage message, SubscriberQueue[] takers)
    {
        foreach (SubscriberQueue taker in takers.AsSpan(0, takers.Length - 1))
        {
            SpotMessage copy = message.Copy();
            taker.Enqueue(new ReadOnlySpan<SpotMessage>(in copy));
        }

        takers[^1].Enqueue(new ReadOnlySpan<SpotMessage>(in message));
    }

    [System.Runtime.CompilerServices.InlineArray(BatchSize)]
    private struct Copies
    {
        private SpotMessage _first;
    }
}
