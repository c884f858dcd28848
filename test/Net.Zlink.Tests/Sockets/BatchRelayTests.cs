using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

public sealed class BatchRelayTests
{
    [Fact]
    public async Task Messages_that_a_relay_receives_and_sends_in_batches_arrive_in_order_through_small_queues()
    {
        const int Count = 1_000;
        await using var fixture = new ContextFixture();
        PairSocket first = fixture.Context.CreatePair();
        PairSocket source = fixture.Context.CreatePair();
        PairSocket target = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 10 });
        PairSocket last = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 10 });
        source.Connect(first.Bind("tcp://127.0.0.1:0"));
        last.Connect(target.Bind("tcp://127.0.0.1:0"));
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        Task relaying = RelayAsync(source, target, end.Token);
        Task sending = SendAsync(first, Count, end.Token);
        for (int i = 0; i < Count; i++)
        {
            using Message message = await last.ReceiveAsync(end.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span));
        }

        await sending.Guarded();
        await end.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => relaying.Guarded());
    }

    private static async Task SendAsync(PairSocket socket, int count, CancellationToken cancellation)
    {
        for (int i = 0; i < count; i++)
        {
            await socket.SendAsync(BitConverter.GetBytes(i), cancellation);
        }
    }

    private static async Task RelayAsync(PairSocket source, PairSocket target, CancellationToken cancellation)
    {
        var batch = new Message[64];
        while (true)
        {
            int count = await source.ReceiveManyAsync(batch, cancellation);
            try
            {
                await target.SendManyAsync(batch.AsMemory(0, count), cancellation);
            }
            finally
            {
                // Those that were passed on have ended: for them this does nothing.
                Array.ForEach(batch, static message => message.Dispose());
            }
        }
    }
}
