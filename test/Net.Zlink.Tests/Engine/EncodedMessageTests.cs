using FsCheck.Fluent;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

public sealed class EncodedMessageTests
{
    private const int Large = OutgoingMessage.LargePayload;

    [Fact]
    public void Any_parts_come_out_as_they_went_in_by_wire_by_lease_and_one_by_one()
    {
        FsCheck.Gen<int> length = Gen.Frequency((8, Gen.Choose(0, 300)), (1, Gen.Choose(Large - 3, Large + 3)),
            (1, Gen.Choose(0, 100_000)));
        FsCheck.Gen<(int, int)> part =
            from l in length
            from way in Gen.Choose(0, 3)
            select (l, way);
        ForAllArrays(part, 150, parts =>
        {
            if (parts.Length == 0)
            {
                return;
            }

            BufferPool pool = TestPools.Create();
            using BufferPool other = TestPools.Create();
            foreach (bool ownPool in (bool[])[true, false])
            {
                var message = new EncodedMessage(ownPool ? pool : other, ZmpFrame.Format);
                foreach (bool toChain in (bool[])[true, false, true])
                {
                    CheckOnce(message, parts, pool, toChain);
                }

                message.Release();
            }

            Assert.Equal((0, 0), (pool.GetStatistics().Live, other.GetStatistics().Live));
            pool.Dispose();
        });
    }

    [Fact]
    public void Clearing_disposes_what_was_handed_over_and_the_message_can_be_built_anew()
    {
        BufferPool pool = TestPools.Create();
        var message = new EncodedMessage(pool, ZmpFrame.Format);
        var owner = new CountingOwner(Pattern(Large, 1));
        message.Add([1]);
        message.Add(owner, Large);
        Assert.Equal((2, 0, Large + 17), (message.Parts, owner.Disposals, message.TotalLength));
        message.Clear();
        message.Clear();
        Assert.Equal((0, 1, 0), (message.Parts, owner.Disposals, message.TotalLength));
        message.Add([7]);
        PartCursor at = default;
        Assert.Equal([7], message.NextPart(ref at).ToArray());
        Assert.Throws<ArgumentOutOfRangeException>(() => message.NextPart(ref at).Length);
        message.Release();
        message.Release();
        Assert.Equal(0, pool.GetStatistics().Live);
        pool.Dispose();
    }

    [Fact]
    public void A_short_part_that_is_handed_over_is_copied_and_disposed_at_once()
    {
        using BufferPool pool = TestPools.Create();
        var message = new EncodedMessage(pool, ZmpFrame.Format);
        foreach (int length in (int[])[0, 1, Large - 1])
        {
            var owner = new CountingOwner(Pattern(length, length));
            message.Add(owner, length);
            Assert.Equal(1, owner.Disposals);
        }

        PartCursor at = default;
        Assert.Equal((0, 1, Large - 1), (message.NextPart(ref at).Length, message.NextPart(ref at).Length,
            message.NextPart(ref at).Length));
        message.Release();
    }

    [Fact]
    public void An_owner_with_too_little_memory_stays_the_callers()
    {
        using BufferPool pool = TestPools.Create();
        var message = new EncodedMessage(pool, ZmpFrame.Format);
        var owner = new CountingOwner(new byte[3]);
        Assert.ThrowsAny<ArgumentException>(() => message.Add(owner, 4));
        Assert.Equal((0, 0, 0), (message.Parts, owner.Disposals, message.TotalLength));
        message.Release();
    }

    [Fact]
    public void Headers_of_handed_over_parts_do_not_hold_large_buffers()
    {
        using BufferPool pool = TestPools.Create();
        using var bench = new OutboundFixture(pool, default);
        for (int i = 0; i < 50; i++)
        {
            var message = new EncodedMessage(pool, ZmpFrame.Format);
            message.Add([1, 2, 3]);
            message.Add(new CountingOwner(new byte[Large]), Large);
            message.Add(new CountingOwner(new byte[Large]), Large);
            Assert.Equal(SendStatus.Accepted, bench.Queue.TryAppend(new OutgoingMessage(message), out _));
            message.Release();
        }

        // Two headers of at most 19 bytes a message, each in the smallest class of the pool.
        Assert.InRange(pool.GetStatistics().BytesRented, 100, 100 * 128);
    }

    [Fact]
    public void Building_and_sending_again_and_again_allocates_nothing()
    {
        using var bench = new OutboundFixture(TestPools.Create(), default);
        var message = new EncodedMessage(bench.Pool, ZmpFrame.Format);
        long allocated = Allocations.Of(
            () =>
            {
                for (int m = 0; m < 50; m++)
                {
                    message.Add("topic"u8);
                    message.AddSpace(100).Clear();
                    bench.Queue.TryAppend(new OutgoingMessage(message), out _);
                }

                for (OutboundSegment? segment = bench.Queue.NextToWrite(several: true); segment is not null;)
                {
                    segment = bench.Queue.Written(segment, several: true);
                }
            },
            rounds: 100);
        Assert.Equal(0, allocated);
        message.Release();
    }

    private static void CheckOnce(EncodedMessage message, (int Length, int Way)[] parts, BufferPool pool, bool toChain)
    {
        byte[][] expected = [.. parts.Select((p, i) => Pattern(p.Length, i))];
        List<CountingOwner> owners = [];
        for (int i = 0; i < parts.Length; i++)
        {
            switch (parts[i].Way)
            {
                case 0:
                    expected[i].CopyTo(message.AddSpace(expected[i].Length));
                    break;
                case 1:
                    var owner = new CountingOwner(expected[i]);
                    owners.Add(owner);
                    message.Add(owner, expected[i].Length);
                    break;
                default:
                    message.Add(expected[i]);
                    break;
            }
        }

        byte[] wire = Wire(expected);
        Assert.Equal((expected.Length, wire.Length), (message.Parts, message.TotalLength));
        PartCursor at = default;
        foreach (byte[] part in expected)
        {
            Assert.True(message.NextPart(ref at).SequenceEqual(part));
        }

        byte[] copy = new byte[wire.Length];
        message.CopyTo(copy);
        Assert.True(copy.AsSpan().SequenceEqual(wire));
        if (toChain)
        {
            using var bench = new OutboundFixture(pool, default);
            Assert.Equal(SendStatus.Accepted, bench.Queue.TryAppend(new OutgoingMessage(message), out _));
            Assert.Equal((1, wire.Length), (bench.Queue.Counts.QueuedMessages, bench.Queue.Counts.QueuedBytes));
            bench.WriteAll();
            Assert.True(wire.AsSpan().SequenceEqual(bench.Wire.ToArray()));
        }
        else
        {
            var slabs = new Slab.SlabCache(pool);
            InboundLease lease = InboundLease.Rent(slab: null, source: null);
            message.PutIntoArrays(pool);
            new OutgoingMessage(message).MoveTo(lease, slabs);
            lease.EndMessage();
            Assert.Equal(expected.Length, lease.PartsOf(0));
            int generation = lease.GenerationOf(0);
            for (int i = 0; i < expected.Length; i++)
            {
                Assert.True(lease.Part(0, i, generation).Span.SequenceEqual(expected[i]));
            }

            lease.Release(0, generation);
            Assert.Equal(0, slabs.OutstandingBytes);
        }

        Assert.Equal((0, 0), (message.Parts, message.TotalLength));
        Assert.All(owners, o => Assert.Equal(1, o.Disposals));
    }

    private static byte[] Wire(byte[][] parts)
    {
        List<byte> wire = [];
        byte[] header = new byte[ZmpFrame.HeaderSize];
        for (int i = 0; i < parts.Length; i++)
        {
            ZmpFrame.WriteHeader(header, i < parts.Length - 1 ? ZmpFlags.More : ZmpFlags.None, (uint)parts[i].Length);
            wire.AddRange(header);
            wire.AddRange(parts[i]);
        }

        return [.. wire];
    }
}
