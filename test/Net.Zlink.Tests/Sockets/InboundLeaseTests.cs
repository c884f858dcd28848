using Net.Zlink.Buffers;
using Net.Zlink.Sockets;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Sockets;

public sealed class InboundLeaseTests
{
    private readonly BufferPool _pool = TestPools.Create();
    private readonly Slab.SlabCache _slabs;

    public InboundLeaseTests() => _slabs = new Slab.SlabCache(_pool);

    [Fact]
    public void The_buffer_goes_back_with_the_last_message_whatever_the_order()
    {
        InboundLease lease = Take("a", "b", "c");
        int[] generations = [.. Enumerable.Range(0, 3).Select(lease.GenerationOf)];
        lease.Release(1, generations[1]);
        lease.Release(2, generations[2]);
        Assert.Equal(1, _pool.GetStatistics().Live);
        Assert.Equal("a"u8, lease.Payload(0, generations[0]).Span);
        lease.Release(0, generations[0]);
        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void A_second_dispose_is_harmless_and_a_read_after_it_throws()
    {
        InboundLease lease = Take("a", "b");
        int generation = lease.GenerationOf(0);
        lease.Release(0, generation);
        lease.Release(0, generation);
        Assert.Throws<ObjectDisposedException>(() => lease.Payload(0, generation));
        Assert.Equal(1, _pool.GetStatistics().Live); // The other message is alive: the second dispose did not end it.
        lease.Release(1, lease.GenerationOf(1));
    }

    [Fact]
    public void A_stale_message_never_shows_or_ends_what_the_lease_serves_later()
    {
        // Leases are shared with tests that run at the same time: taken until the same one comes back.
        InboundLease first = Take("secret", "other");
        int stale = first.GenerationOf(0);
        first.ReleaseRest();
        List<InboundLease> others = [];
        InboundLease? again = null;
        for (int i = 0; i < 5_000 && again is null; i++)
        {
            InboundLease next = Take("new one", "and another", "and more", "fourth", "fifth: beyond the first slots");
            if (ReferenceEquals(next, first))
            {
                again = next;
            }
            else
            {
                others.Add(next);
            }
        }

        others.ForEach(static l => l.ReleaseRest());
        Assert.Throws<ObjectDisposedException>(() => first.Payload(0, stale));
        if (again is not null)
        {
            again.Release(0, stale);
            Assert.Equal("new one"u8, again.Payload(0, again.GenerationOf(0)).Span);
            again.ReleaseRest();
        }

        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void A_lease_takes_at_most_256_messages_and_the_next_goes_on_behind_them()
    {
        string[] texts = [.. Enumerable.Range(0, 300).Select(i => $"{i}")];
        byte[] frames = Frames(texts);
        Slab slab = _slabs.Rent(frames.Length);
        frames.CopyTo(slab.Array, 0);
        int offset = 0;
        InboundLease first = InboundLease.Take(slab, ref offset, frames.Length);
        InboundLease second = InboundLease.Take(slab, ref offset, frames.Length);
        slab.Release();
        Assert.Equal((256, 44, frames.Length), (first.Count, second.Count, offset));
        Assert.Equal("255"u8, first.Payload(255, first.GenerationOf(255)).Span);
        Assert.Equal("256"u8, second.Payload(0, second.GenerationOf(0)).Span);
        first.ReleaseRest();
        Assert.Equal(1, _pool.GetStatistics().Live);
        second.ReleaseRest();
        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void Of_many_threads_that_end_the_same_messages_exactly_one_ends_each()
    {
        for (int round = 0; round < 100; round++)
        {
            InboundLease lease = Take([.. Enumerable.Range(0, 64).Select(i => $"{i}")]);
            int[] generations = [.. Enumerable.Range(0, 64).Select(lease.GenerationOf)];
            Slab guard = _slabs.Rent(100);
            Action end = () =>
            {
                for (int slot = 0; slot < 64; slot++)
                {
                    lease.Release(slot, generations[slot]);
                }
            };
            InParallel(end, end);
            Assert.Equal(1, _pool.GetStatistics().Live);
            guard.Release();
        }
    }

    private static byte[] Frames(string[] texts) => [.. texts.SelectMany(t => OutboundBench.Frame(System.Text.Encoding.ASCII.GetBytes(t)))];

    private InboundLease Take(params string[] texts)
    {
        byte[] frames = Frames(texts);
        Slab slab = _slabs.Rent(frames.Length);
        frames.CopyTo(slab.Array, 0);
        int offset = 0;
        InboundLease lease = InboundLease.Take(slab, ref offset, frames.Length);
        slab.Release();
        return lease;
    }
}
