namespace Net.Zlink.Services;

/// <summary>Builders between two typed requests. One is held for the whole of a request, so as many are kept as requests may be
/// outstanding. Safe for any number of threads.</summary>
internal static class RequestBuilders
{
    // 256 bytes and more each.
    private const int MaxKept = 1024;

    private static readonly Lock Gate = new();
    private static readonly Stack<MessageBuilder> Kept = [];

    public static MessageBuilder Rent()
    {
        lock (Gate)
        {
            if (Kept.TryPop(out MessageBuilder? kept))
            {
                return kept;
            }
        }

        return new MessageBuilder();
    }

    /// <summary>Takes a builder back, sent or not.</summary>
    public static void Return(MessageBuilder builder)
    {
        builder.Clear();
        lock (Gate)
        {
            if (Kept.Count < MaxKept)
            {
                Kept.Push(builder);
                return;
            }
        }

        builder.Dispose();
    }
}
