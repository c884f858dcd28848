using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>Publishes under one topic, waiting where a peer has no room.</summary>
/// <param name="publisher">Of a node with NoDrop.</param>
/// <param name="batch">With PublishMany: every 64th send publishes 64 messages.</param>
internal readonly struct SpotPublisherPort(SpotPublisher publisher, bool batch) : IServerPort
{
    private const int BatchSize = 64;

    // The publishing thread's.
    private readonly Measure.OwnLines<int> _sent = new(1);
    private readonly ReadOnlyMemory<byte>[] _batch = new ReadOnlyMemory<byte>[BatchSize];

    public void Send(ReadOnlySpan<byte> payload)
    {
        if (!batch)
        {
            Publish(payload);
            return;
        }

        if (_sent.First == 0)
        {
            // The payload of a measurement never changes.
            if (_batch[0].Length != payload.Length)
            {
                Array.Fill(_batch, payload.ToArray());
            }

            for (int i = publisher.PublishMany(_batch); i < BatchSize; i++)
            {
                Publish(payload);
            }
        }

        _sent.First = _sent.First + 1 < BatchSize ? _sent.First + 1 : 0;
    }

    public bool TrySend(ReadOnlySpan<byte> payload) => publisher.TryPublish(payload);

    public void Receive(Span<byte> payload) => throw new NotSupportedException();

    public bool TryReceive(Span<byte> payload) => throw new NotSupportedException();

    public int ReceiveMany(Span<byte> payload, int most) => throw new NotSupportedException();

    public void Answer(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    private void Publish(ReadOnlySpan<byte> payload)
    {
        while (!publisher.TryPublish(payload))
        {
            Thread.Yield();
        }
    }
}

/// <summary>A subscriber that is polled, as the native program does it.</summary>
internal readonly struct SpotSubscriberPort(SpotSubscriber subscriber) : IPort
{
    private readonly SpotMessage[] _many = new SpotMessage[CopyingReceive.Batch];

    public void Send(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public bool TrySend(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public void Receive(Span<byte> payload)
    {
        while (!TryReceive(payload))
        {
            Thread.Yield();
        }
    }

    public bool TryReceive(Span<byte> payload)
    {
        if (!subscriber.TryReceive(out SpotMessage message))
        {
            return false;
        }

        using (message)
        {
            message.Span.CopyTo(payload);
            return true;
        }
    }

    public int ReceiveMany(Span<byte> payload, int most)
    {
        int count = subscriber.ReceiveMany(_many.AsSpan(0, Math.Min(most, _many.Length)));
        foreach (ref SpotMessage message in _many.AsSpan(0, count))
        {
            message.Span.CopyTo(payload);
            message.Dispose();
        }

        return count;
    }
}
