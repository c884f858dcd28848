using System.Runtime.CompilerServices;

namespace Net.Zlink;

internal static class BuilderCache
{
    // As many threads rarely send at once; a builder holds 256 bytes or more.
    private const int MaxKept = 64;

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

    public static ValueTask ReturnWhenSent(ValueTask sending, MessageBuilder message)
    {
        if (!sending.IsCompletedSuccessfully)
        {
            return AwaitAsync(sending, message);
        }

        Return(message);
        return sending;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private static async ValueTask AwaitAsync(ValueTask sending, MessageBuilder message)
    {
        try
        {
            await sending.ConfigureAwait(false);
        }
        finally
        {
            Return(message);
        }
    }
}
