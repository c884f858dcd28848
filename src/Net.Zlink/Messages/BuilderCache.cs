using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;

namespace Net.Zlink;

internal static class BuilderCache
{
    // As many threads rarely send at once; a builder holds 256 bytes or more.
    private const int MaxKept = 64;

    private static readonly ObjectCache<MessageBuilder> Cache = new(MaxKept);

    public static MessageBuilder Rent() => Cache.Rent();

    public static void Return(MessageBuilder builder)
    {
        builder.Clear();
        if (!Cache.Return(builder))
        {
            builder.Dispose();
        }
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
