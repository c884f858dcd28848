using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>All ways to send on one socket, by turns: Try, blocking and async, of bytes, of many payloads and of several parts. Not
/// thread-safe: each thread has its own.</summary>
internal sealed class SendingWays : IDisposable
{
    private readonly MessageBuilder _builder = new();
    private readonly ReadOnlyMemory<byte>[] _many = new ReadOnlyMemory<byte>[1];
    private int _turn;

    public required Func<byte[], bool> Try { get; init; }

    public required Action<byte[]> Block { get; init; }

    public required Func<byte[], CancellationToken, ValueTask> WaitAsync { get; init; }

    public required Func<ReadOnlyMemory<ReadOnlyMemory<byte>>, CancellationToken, ValueTask<int>> ManyAsync { get; init; }

    public required Func<MessageBuilder, bool> TryParts { get; init; }

    public required Action<MessageBuilder> BlockParts { get; init; }

    public required Func<MessageBuilder, CancellationToken, ValueTask> PartsAsync { get; init; }

    public static SendingWays Of(DuplexSocket socket) => new()
    {
        Try = payload => socket.TrySend(payload),
        Block = payload => socket.Send(payload),
        WaitAsync = (payload, token) => socket.SendAsync(payload, token),
        ManyAsync = (payloads, token) => socket.SendManyAsync(payloads, token),
        TryParts = message => socket.TrySend(message),
        BlockParts = message => socket.Send(message),
        PartsAsync = socket.SendAsync,
    };

    public static SendingWays Of(RouterSocket socket, byte[] peer) => new()
    {
        Try = payload => socket.To(peer).TrySend(payload),
        Block = payload => socket.To(peer).Send(payload),
        WaitAsync = (payload, token) => socket.To(peer).SendAsync(payload, token),
        ManyAsync = (payloads, token) => socket.To(peer).SendManyAsync(payloads, token),
        TryParts = message => socket.To(peer).TrySend(message),
        BlockParts = message => socket.To(peer).Send(message),
        PartsAsync = (message, token) => socket.To(peer).SendAsync(message, token),
    };

    public static SendingWays Of(PubSocket socket) => new()
    {
        Try = payload => socket.TrySend(payload),
        Block = payload => socket.Send(payload),
        WaitAsync = (payload, token) => socket.SendAsync(payload, token),
        ManyAsync = (payloads, token) => socket.SendManyAsync(payloads, token),
        TryParts = message => socket.TrySend(message),
        BlockParts = message => socket.Send(message),
        PartsAsync = socket.SendAsync,
    };

    public static SendingWays Of(XPubSocket socket) => new()
    {
        Try = payload => socket.TrySend(payload),
        Block = payload => socket.Send(payload),
        WaitAsync = (payload, token) => socket.SendAsync(payload, token),
        ManyAsync = (payloads, token) => socket.SendManyAsync(payloads, token),
        TryParts = message => socket.TrySend(message),
        BlockParts = message => socket.Send(message),
        PartsAsync = socket.SendAsync,
    };

    /// <summary>Sends one of the numbered messages, the next way; the calling thread waits if it must. A Try that is refused is followed by
    /// one that waits.</summary>
    public void Send(int sender, int number, ReadOnlySpan<byte> topic = default)
    {
        int way = _turn++ % 4;
        if (Numbered.PartsOf(sender, number) == 1 && number % 2 == 0)
        {
            byte[] payload = Numbered.Part(sender, number, 0, topic);
            if (way == 3)
            {
                _many[0] = payload;
                Assert.Equal(1, Join(ManyAsync(_many, Guard.Token)));
            }
            else if (way == 2)
            {
                Join(WaitAsync(payload, Guard.Token));
            }
            else if (way == 1 || !Try(payload))
            {
                Block(payload);
            }
        }
        else
        {
            Numbered.Build(_builder, sender, number, topic);
            if (way >= 2)
            {
                Join(PartsAsync(_builder, Guard.Token));
            }
            else if (way == 1 || !TryParts(_builder))
            {
                BlockParts(_builder);
            }
        }
    }

    public void Dispose() => _builder.Dispose();

    private static T Join<T>(ValueTask<T> task) => task.IsCompleted ? task.GetAwaiter().GetResult()
        : task.Guarded().GetAwaiter().GetResult();

    private static void Join(ValueTask task)
    {
        if (task.IsCompleted)
        {
            task.GetAwaiter().GetResult();
        }
        else
        {
            task.Guarded().GetAwaiter().GetResult();
        }
    }
}
