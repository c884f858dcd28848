using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Tests.Buffers;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

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
        Assert.Equal("a"u8, lease.Part(0, 0, generations[0]).Span);
        lease.Release(0, generations[0]);
        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void Short_messages_of_another_lease_are_taken_over_and_each_ends_for_itself()
    {
        InboundLease lease = Take("a", "b");
        InboundLease other = Take("c", "d");
        Assert.True(lease.TryAbsorb(other));
        Assert.Equal((4, 4, 4L, 0), (lease.Messages, lease.Unread, lease.Bytes, lease.UnfinishedParts));
        int[] generations = [.. Enumerable.Range(0, 4).Select(lease.GenerationOf)];
        Assert.Equal("abcd", string.Concat(Enumerable.Range(0, 4).Select(i => (char)lease.Part(i, 0, generations[i]).Span[0])));
        Assert.Equal(2, _pool.GetStatistics().Live);
        lease.Release(2, generations[2]);
        lease.Release(3, generations[3]);
        Assert.Equal(1, _pool.GetStatistics().Live);
        Assert.Throws<ObjectDisposedException>(() => lease.Part(3, 0, generations[3]));
        lease.ReleaseRemaining();
        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void A_lease_does_not_absorb_one_that_is_long_large_multipart_or_of_another_peer()
    {
        InboundLease lease = Take("a");
        InboundLease several = InboundLease.Rent(_slabs.Rent(10), source: null);
        several.AddPart(0, 1);
        several.AddPart(1, 1);
        several.EndMessage();
        InboundLease ofAnother = InboundLease.Rent(_slabs.Rent(10), new object());
        ofAnother.AddPart(0, 1);
        ofAnother.EndMessage();
        InboundLease[] others = [Take("1", "2", "3", "4", "5"), Take(new string('x', 257)), several, ofAnother];
        foreach (InboundLease other in others)
        {
            Assert.False(lease.TryAbsorb(other));
            other.ReleaseRemaining();
        }

        for (int i = 1; i < InboundLease.MaxSlots; i++)
        {
            Assert.True(lease.TryAbsorb(Take("x")));
        }

        InboundLease beyond = Take("x");
        Assert.False(lease.TryAbsorb(beyond));
        Assert.False(beyond.TryAbsorb(lease));
        beyond.ReleaseRemaining();
        lease.ReleaseRemaining();
        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void A_second_dispose_is_harmless_and_a_read_after_it_throws()
    {
        InboundLease lease = Take("a", "b");
        int generation = lease.GenerationOf(0);
        lease.Release(0, generation);
        lease.Release(0, generation);
        Assert.Throws<ObjectDisposedException>(() => lease.Part(0, 0, generation));
        Assert.Equal(1, _pool.GetStatistics().Live); // The other message is alive: the second dispose did not end it.
        lease.Release(1, lease.GenerationOf(1));
    }

    [Fact]
    public void A_stale_message_never_shows_or_ends_what_the_lease_serves_later()
    {
        // Leases are shared with tests that run at the same time: taken until the same one comes back.
        InboundLease first = Take("secret", "other");
        int stale = first.GenerationOf(0);
        first.ReleaseRemaining();
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

        others.ForEach(static l => l.ReleaseRemaining());
        Assert.Throws<ObjectDisposedException>(() => first.Part(0, 0, stale));
        if (again is not null)
        {
            again.Release(0, stale);
            Assert.Equal("new one"u8, again.Part(0, 0, again.GenerationOf(0)).Span);
            again.ReleaseRemaining();
        }

        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void A_thread_that_ends_its_messages_at_once_uses_the_same_lease_again()
    {
        InboundLease first = Take("a");
        first.ReleaseRemaining();
        InboundLease second = Take("b");
        Assert.Same(first, second);
        second.ReleaseRemaining();
    }

    [Fact]
    public void A_lease_takes_at_most_256_messages_and_the_next_goes_on_behind_them()
    {
        string[] texts = [.. Enumerable.Range(0, 300).Select(i => $"{i}")];
        byte[] frames = Frames(texts);
        Slab slab = _slabs.Rent(frames.Length);
        frames.CopyTo(slab.Array, 0);
        int offset = 0;
        InboundLease first = InboundLease.Open(slab, ref offset, frames.Length);
        InboundLease second = InboundLease.Open(slab, ref offset, frames.Length);
        slab.Release();
        Assert.Equal((256, 44, frames.Length), (first.Count, second.Count, offset));
        Assert.Equal("255"u8, first.Part(255, 0, first.GenerationOf(255)).Span);
        Assert.Equal("256"u8, second.Part(0, 0, second.GenerationOf(0)).Span);
        first.ReleaseRemaining();
        Assert.Equal(1, _pool.GetStatistics().Live);
        second.ReleaseRemaining();
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

    [Fact]
    public void A_buffer_of_its_own_goes_back_with_its_message_whatever_else_of_the_lease_lives()
    {
        InboundLease lease = InboundLease.Rent(SlabOf("shared"), source: null);
        lease.AddPart(SlabOf("one"), 0, 3);
        lease.EndMessage();
        lease.AddPart(0, 6);
        lease.EndMessage();
        lease.AddPart(SlabOf("a"), 0, 1);
        lease.AddPart(SlabOf("b"), 0, 1);
        lease.EndMessage();
        lease.AddPart(SlabOf("two"), 0, 3);
        lease.EndMessage();
        int generation = lease.GenerationOf(0);
        Assert.Equal(5, _pool.GetStatistics().Live);
        lease.Release(4, generation);
        Assert.Equal(4, _pool.GetStatistics().Live);
        Assert.Throws<ObjectDisposedException>(() => lease.Part(4, 0, generation));
        lease.Release(4, generation);
        Assert.Equal(4, _pool.GetStatistics().Live);
        lease.Release(2, generation);
        Assert.Equal(4, _pool.GetStatistics().Live); // Those of a message of several parts stay for as long as the lease.
        Assert.Equal(["one", "shared"], [Text(lease.Part(0, 0, generation)), Text(lease.Part(1, 0, generation))], StringComparer.Ordinal);
        lease.Release(0, generation);
        Assert.Equal(3, _pool.GetStatistics().Live);
        lease.Release(1, generation);
        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void Of_many_threads_that_end_messages_with_buffers_of_their_own_exactly_one_gives_each_back()
    {
        for (int round = 0; round < 100; round++)
        {
            InboundLease lease = InboundLease.Rent(slab: null, source: null);
            for (int i = 0; i < 64; i++)
            {
                lease.AddPart(SlabOf("x"), 0, 1);
                lease.EndMessage();
            }

            int[] generations = [.. Enumerable.Range(0, 64).Select(lease.GenerationOf)];
            Action end = () =>
            {
                for (int slot = 0; slot < 64; slot++)
                {
                    lease.Release(slot, generations[slot]);
                }
            };
            InParallel(end, end); // A buffer that went back twice would throw.
            Assert.Equal(0, _pool.GetStatistics().Live);
        }
    }

    [Fact]
    public void The_generation_rises_with_every_use_so_no_handle_ever_fits_again()
    {
        // The pool of leases is shared: one that comes back several times must show a new generation each time.
        Dictionary<InboundLease, int> seen = [];
        int again = 0;
        for (int i = 0; i < 20_000 && again < 100; i++)
        {
            InboundLease lease = InboundLease.Rent(slab: null, source: null);
            lease.AddPart(_slabs.Rent(1), 0, 1);
            lease.EndMessage();
            int generation = lease.GenerationOf(0);
            if (seen.TryGetValue(lease, out int before))
            {
                Assert.NotEqual(before, generation);
                Assert.False(lease.IsLive(0, before));
                again++;
            }

            seen[lease] = generation;
            lease.Release(0, generation);
        }

        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void Parts_from_several_buffers_are_one_message_and_all_buffers_go_back_with_it()
    {
        Slab own = SlabOf("aabb");
        InboundLease lease = InboundLease.Rent(own, "source");
        lease.AddPart(0, 2);
        lease.AddPart(SlabOf("xother"), 1, 5);
        lease.AddPart(2, 2);
        lease.EndMessage();
        lease.AddPart(2, 1);
        lease.EndMessage();
        Assert.Equal((2, 4, 10L, 3, 1), (lease.Messages, lease.Count, lease.Bytes, lease.PartsOf(0), lease.PartsOf(3)));
        Assert.Equal((9L, 1L), (lease.BytesOf(0), lease.BytesOf(3)));
        int generation = lease.GenerationOf(0);
        Assert.Equal(["aa", "other", "bb"], Enumerable.Range(0, 3).Select(i => Text(lease.Part(0, i, generation))), StringComparer.Ordinal);
        (Slab slab, int offset, int length) = lease.PartAt(1);
        Assert.Equal("other"u8, slab.Array.AsSpan(offset, length));
        lease.Release(0, generation);
        Assert.Throws<ObjectDisposedException>(() => lease.Part(0, 1, generation));
        Assert.Equal("b", Text(lease.Part(3, 0, lease.GenerationOf(3))));
        Assert.Equal(2, _pool.GetStatistics().Live);
        lease.Release(3, lease.GenerationOf(3));
        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void A_message_that_is_not_whole_moves_into_a_lease_of_its_own_and_is_filled_up_there()
    {
        InboundLease lease = InboundLease.Rent(SlabOf("abc"), "source");
        Assert.Null(lease.SplitOpenMessage());
        lease.AddPart(0, 1);
        lease.EndMessage();
        lease.AddPart(1, 1);
        lease.AddPart(2, 1);
        Assert.Equal(2, lease.UnfinishedParts);
        InboundLease rest = lease.SplitOpenMessage()!;
        Assert.Equal((1, 1, 1L, 0), (lease.Messages, lease.Count, lease.Bytes, lease.UnfinishedParts));
        lease.ReleaseRemaining();
        Assert.Equal(1, _pool.GetStatistics().Live); // The rest keeps it alive.
        rest.AddPart(SlabOf("third"), 0, 5);
        rest.EndMessage();
        Assert.Equal(("source", 3), (rest.Source, rest.PartsOf(0)));
        Assert.Equal(["b", "c", "third"], Enumerable.Range(0, 3).Select(i => Text(rest.Part(0, i, rest.GenerationOf(0)))),
            StringComparer.Ordinal);
        rest.ReleaseRemaining();
        Assert.Equal(0, _pool.GetStatistics().Live);

        InboundLease abandoned = InboundLease.Rent(SlabOf("x"), source: null);
        abandoned.AddPart(0, 1);
        abandoned.Abandon();
        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    [Fact]
    public void Keeping_the_last_message_ends_all_before_it()
    {
        InboundLease lease = InboundLease.Rent(slab: null, source: null);
        foreach (string text in (string[])["one", "two", "three"])
        {
            lease.AddPart(SlabOf(text), 0, text.Length);
            lease.AddPart(SlabOf("!"), 0, 1);
            lease.EndMessage();
        }

        int first = lease.GenerationOf(0);
        Assert.Equal(2, lease.ConflateToLast());
        Assert.Equal((1, 6L, 4), (lease.Messages, lease.Bytes, lease.Cursor));
        Assert.False(lease.IsLive(0, first));
        Assert.Equal("three", Text(lease.Part(lease.Cursor, 0, lease.GenerationOf(lease.Cursor))));
        Assert.Equal(0, lease.ConflateToLast());
        lease.ReleaseRemaining();
        Assert.Equal(0, _pool.GetStatistics().Live);
    }

    private static string Text(ReadOnlyMemory<byte> bytes) => System.Text.Encoding.ASCII.GetString(bytes.Span);

    private Slab SlabOf(string text)
    {
        Slab slab = _slabs.Rent(text.Length);
        System.Text.Encoding.ASCII.GetBytes(text, slab.Array);
        return slab;
    }

    private static byte[] Frames(string[] texts) =>
        [.. texts.SelectMany(t => OutboundFixture.Frame(System.Text.Encoding.ASCII.GetBytes(t)))];

    private InboundLease Take(params string[] texts)
    {
        byte[] frames = Frames(texts);
        Slab slab = _slabs.Rent(frames.Length);
        frames.CopyTo(slab.Array, 0);
        int offset = 0;
        InboundLease lease = InboundLease.Open(slab, ref offset, frames.Length);
        slab.Release();
        return lease;
    }
}
