namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>Receives as the native call does it: what came is in the caller's memory when it returns.</summary>
internal static class CopyingReceive
{
    // As many as one read of a shard yields at small sizes.
    public const int Batch = 256;

    public static Message[] NewBatch() => new Message[Batch];

    public static void ReceiveInto(this ReceivingSocket socket, Span<byte> payload)
    {
        using Message message = socket.Receive();
        message.Span.CopyTo(payload);
    }

    /// <summary>Also the sender's id. Returns its length.</summary>
    public static int ReceiveInto(this ReceivingSocket socket, Span<byte> id, Span<byte> payload) => socket.Receive().CopyOut(id, payload);

    public static bool TryReceiveInto(this ReceivingSocket socket, Span<byte> payload)
    {
        if (!socket.TryReceive(out Message message))
        {
            return false;
        }

        using (message)
        {
            message.Span.CopyTo(payload);
            return true;
        }
    }

    public static int ReceiveManyInto(this ReceivingSocket socket, Message[] many, Span<byte> payload, int most)
    {
        int count = socket.ReceiveMany(many.AsSpan(0, Math.Min(most, many.Length)));
        foreach (ref Message message in many.AsSpan(0, count))
        {
            message.Span.CopyTo(payload);
            message.Dispose();
        }

        return count;
    }

    /// <summary>The sender's id and the payload; the message is disposed. Returns the id's length.</summary>
    public static int CopyOut(this Message message, Span<byte> id, Span<byte> payload)
    {
        using (message)
        {
            ReadOnlySpan<byte> sender = message.RoutingId.Span;
            sender.CopyTo(id);
            message.Span.CopyTo(payload);
            return sender.Length;
        }
    }
}
