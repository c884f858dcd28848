namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>Waits for what a connection brings about in its own time.</summary>
internal static class Settling
{
    // As the native programs: both ends have then done all that a new connection makes them do.
    private static readonly TimeSpan Time = TimeSpan.FromMilliseconds(300);

    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(10);

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    public static void Rest() => Thread.Sleep(Time);

    public static void Until<T>(T subject, Func<T, bool> isReached)
    {
        long start = TimeProvider.System.GetTimestamp();
        while (!isReached(subject))
        {
            if (TimeProvider.System.GetElapsedTime(start) > Limit)
            {
                throw new TimeoutException($"Not connected within {Limit.TotalSeconds:0} s.");
            }

            Thread.Sleep(Step);
        }
    }
}

/// <summary>Receives as the native call does it: what came is in the caller's memory when it returns.</summary>
internal static class CopyingReceive
{
    public static void ReceiveInto(this ReceivingSocket socket, Span<byte> payload)
    {
        using Message message = socket.Receive();
        message.Span.CopyTo(payload);
    }

    /// <summary>Also the sender's id. Returns its length.</summary>
    public static int ReceiveInto(this ReceivingSocket socket, Span<byte> id, Span<byte> payload)
    {
        using Message message = socket.Receive();
        ReadOnlySpan<byte> sender = message.RoutingId.Span;
        sender.CopyTo(id);
        message.Span.CopyTo(payload);
        return sender.Length;
    }
}
