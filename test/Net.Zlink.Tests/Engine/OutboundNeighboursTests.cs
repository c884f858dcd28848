using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Engine;

/// <summary>What stands beside one another in an outbound queue: runs of one slab, news and messages, protocol frames.</summary>
public sealed class OutboundNeighboursTests
{
    private const int Large = OutgoingMessage.LargePayload;

    [Fact]
    public void A_run_that_does_not_lie_behind_the_one_before_it_takes_nothing_from_between()
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        byte[][] frames = [.. Enumerable.Range(0, 3).Select(static i => OutboundFixture.Frame([.. Enumerable.Repeat((byte)i, Large)]))];
        Slab slab = bench.Slabs.Rent(3 * frames[0].Length);
        frames.SelectMany(static frame => frame).ToArray().CopyTo(slab.Array, 0);
        foreach (int i in new[] { 0, 2, 1 })
        {
            Assert.Equal(SendStatus.Accepted, bench.Queue.TryAppendShared(slab, i * frames[0].Length, frames[0].Length, 1, out _));
        }

        slab.Release();
        bench.WriteAll();
        Assert.Equal([.. frames[0], .. frames[2], .. frames[1]], bench.Wire);
    }

    [Fact]
    public void Protocol_frames_that_nobody_takes_are_refused_beyond_64_KiB()
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        byte[] answer = new byte[26];
        Assert.Equal(64 * 1024 / answer.Length, Enumerable.Range(0, 10_000).TakeWhile(_ => bench.Queue.TryAppendControl(answer)).Count());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(Large)]
    public void A_message_behind_subscription_updates_stays_whole_when_the_updates_are_dropped(int length)
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        byte[] payload = Wire.Pattern(length);
        bench.Queue.PauseSending();
        bench.Queue.AppendOwn([9, 9, 9, 9], [9], isUpdate: true, out _);
        Assert.Equal(SendStatus.Accepted, bench.AppendOrWait(payload, new CountingOwner(payload)).Status);
        bench.Queue.AppendOwn([9, 9, 9, 9], [9], isUpdate: true, out _);
        Assert.Equal(SendStatus.Accepted, bench.AppendShared(payload));
        bench.Queue.DropUpdates();
        Assert.Equal((2, 0), (bench.Queue.Counts.QueuedMessages, bench.Queue.Counts.QueuedUpdates));
        bench.Queue.Release();
        bench.WriteAll();
        Assert.Equal([.. OutboundFixture.Frame(payload), .. OutboundFixture.Frame(payload)], bench.Wire);
    }
}
