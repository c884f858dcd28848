using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

/// <summary>Threads that rent, fill, pass on, check and return, so that a buffer in two hands would show two writers' bytes.</summary>
public sealed class BufferPoolStressTests
{
    private const int Threads = 4;
    private static readonly int Steps = SlowTests.Rounds(4_000, all: 20_000);
    private static readonly int[] Sizes = [128, 640, 4_096, 81_920, 278_528];

    [Theory]
    [InlineData(0, 1_000)]
    [InlineData(2, 40)]
    [InlineData(0, 3)]
    public void No_buffer_is_ever_in_two_hands_while_threads_rent_pass_on_return_and_trim(int warm, int keep)
    {
        using BufferPool pool = TestPools.Create(warm: warm, keep: keep);
        var exchange = new Rented?[64];
        using var together = new Barrier(Threads);
        TestPools.OnNewThreads(Threads, thread =>
        {
            together.SignalAndWait(TimeSpan.FromSeconds(30));
            Work(pool, thread, exchange);
        });
        foreach (Rented? left in exchange)
        {
            Return(pool, left);
        }

        BufferPoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(0, statistics.Live);
        Assert.All(statistics.Classes, one => Assert.InRange(one.Kept, 0, keep));

        // What is kept is kept once: all of it rented at the same time is all different.
        foreach (int size in Sizes)
        {
            byte[][] all = pool.RentMany(size, pool.ClassOf(size).Kept + 10);
            Assert.Equal(all.Length, all.Distinct().Count());
        }
    }

    private static void Work(BufferPool pool, int thread, Rented?[] exchange)
    {
        var random = new Random(thread);
        for (int step = 0; step < Steps; step++)
        {
            var held = new Rented(pool.RentArray(Sizes[random.Next(Sizes.Length)]), ((long)thread << 32) | (uint)step);
            Write(held);
            Return(pool, Interlocked.Exchange(ref exchange[random.Next(exchange.Length)], held));
            if (thread == 0 && step % 500 == 0)
            {
                pool.Trim();
                pool.GetStatistics();
            }
        }
    }

    // The first 512 bytes and the last 8 in full: enough to see any other writer, cheap enough for many steps.
    private static void Write(Rented held)
    {
        Head(held).Fill(held.Stamp);
        MemoryMarshal.Cast<byte, long>(held.Array.AsSpan())[^1] = held.Stamp;
    }

    private static void Return(BufferPool pool, Rented? held)
    {
        if (held is not null)
        {
            Assert.False(Head(held).ContainsAnyExcept(held.Stamp), "Another holder wrote to the buffer.");
            Assert.Equal(held.Stamp, MemoryMarshal.Cast<byte, long>(held.Array.AsSpan())[^1]);
            pool.ReturnArray(held.Array);
        }
    }

    private static Span<long> Head(Rented held) => MemoryMarshal.Cast<byte, long>(held.Array.AsSpan(0, Math.Min(held.Array.Length, 512)));

    private sealed record Rented(byte[] Array, long Stamp);
}
