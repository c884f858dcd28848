using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>A reader over a wire that hands over the arrays it read into.</summary>
public sealed class DetachedReadTests
{
    [Fact]
    public void A_conversation_cut_anywhere_in_three_gives_the_same_frames_whatever_is_handed_over_and_no_buffer_stays_out()
    {
        byte[][] payloads = [[], [1], Pattern(3, 1), Pattern(17, 2), [], Pattern(9, 3)];
        byte[] bytes = Frames(payloads);
        for (int first = 0; first <= bytes.Length; first++)
        {
            for (int second = first; second <= bytes.Length; second += 7)
            {
                for (int handed = 0; handed < 8; handed++)
                {
                    using var bench = new Fixture();
                    bench.Feed(bytes[..first], (handed & 1) != 0);
                    bench.Feed(bytes[first..second], (handed & 2) != 0);
                    bench.Feed(bytes[second..], (handed & 4) != 0);
                    bench.ExpectFrames(payloads);
                }
            }
        }
    }

    [Theory]
    [InlineData(Wire.Headroom - StreamFraming.HeaderSize - 1)]
    [InlineData(Wire.Headroom - StreamFraming.HeaderSize)]
    [InlineData(Wire.Headroom - StreamFraming.HeaderSize + 1)]
    [InlineData(100_000)]
    public void A_frame_that_comes_in_pieces_fits_in_front_of_the_next_read_or_has_a_buffer_of_its_own(int length)
    {
        byte[][] payloads = [Pattern(5, 1), Pattern(length, 2), Pattern(6, 3)];
        byte[] bytes = Frames(payloads);
        foreach (int last in (int[])[1, 7, 6 + StreamFraming.HeaderSize, length / 2])
        {
            using var bench = new Fixture();
            bench.Feed(bytes[..^last], handOver: true);
            bench.Feed(bytes[^last..], handOver: true);
            bench.ExpectFrames(payloads);
        }
    }

    [Fact]
    public void Memory_that_a_consumer_keeps_is_not_overwritten_by_later_reads()
    {
        using var bench = new Fixture { KeepsSlabs = true };
        for (int i = 0; i < 10; i++)
        {
            bench.Feed(Frames([Pattern(1_000, i)]), handOver: true);
        }

        bench.ExpectKept(Enumerable.Range(0, 10).Select(i => Pattern(1_000, i)));
    }

    [Fact]
    public void While_too_much_is_pinned_what_is_read_is_copied_into_the_shards_slab_instead()
    {
        using var bench = new Fixture();
        const long Much = 64L * 1024 * 1024;
        bench.Cache.Account(Much);
        bench.Feed(Frames([Pattern(100, 1)]), handOver: true);
        Assert.Equal(0, bench.Taken);
        bench.Cache.Account(-Much);
        bench.Feed(Frames([Pattern(100, 2)]), handOver: true);
        Assert.Equal(1, bench.Taken);
        bench.ExpectFrames([Pattern(100, 1), Pattern(100, 2)]);
    }

    private sealed class Fixture : IDisposable
    {
        private readonly BufferPool _pool = TestPools.Create(leakCheck: true);
        private readonly ScriptedWire _wire;
        private readonly ReceiveSlab _slabs;
        private readonly List<byte[]> _frames = [];
        private readonly List<(Slab Slab, int Offset, int Length)> _kept = [];
        private FrameReader _reader;

        public Fixture()
        {
            _wire = new ScriptedWire(_pool);
            Cache = new Slab.SlabCache(_pool);
            _slabs = new ReceiveSlab(Cache);
            _reader = new FrameReader(_wire, _slabs, _pool);
        }

        public Slab.SlabCache Cache { get; }

        public bool KeepsSlabs { get; init; }

        public int Taken => _wire.Taken;

        public void Feed(byte[] bytes, bool handOver)
        {
            _wire.Arrive(bytes, handOver);
            while (_wire.Available > 0)
            {
                FrameBatch.Read(ref _reader, limit: 10_000_000, out FrameBatch batch);
                Assert.False(batch.Scan.IsBroken);
                Take(batch);
            }
        }

        public void ExpectFrames(byte[][] payloads) => Assert.Equal(payloads, _frames);

        public void ExpectKept(IEnumerable<byte[]> payloads)
        {
            Assert.Equal(payloads, _kept.Select(kept =>
                kept.Slab.Array.AsSpan(kept.Offset + StreamFraming.HeaderSize, kept.Length - StreamFraming.HeaderSize).ToArray()));
            _kept.ForEach(kept => kept.Slab.Release());
        }

        public void Dispose()
        {
            Assert.Equal(0, _reader.BufferedBytes);
            _slabs.Release();
            Assert.Equal(0, Cache.OutstandingBytes);
            Assert.Empty(_pool.GetOutstanding());
            _wire.Dispose();
            _pool.Dispose();
        }

        private void Take(in FrameBatch batch)
        {
            _frames.AddRange(batch.Payloads());
            InboundBytes bytes = batch.Bytes;
            if (KeepsSlabs && batch.Scan.Frames > 0)
            {
                bytes.Slab.AddReference();
                _kept.Add((bytes.Slab, bytes.Offset, bytes.Length));
                _slabs.Retain(bytes.Slab, bytes.Offset + bytes.Length);
            }

            batch.Release();
        }
    }

    /// <summary>Says what the test tells it to, as read into an array of the pool.</summary>
    private sealed class ScriptedWire(BufferPool pool) : TestWire
    {
        private byte[]? _array;
        private int _start;
        private int _end;
        private bool _handsOver;

        public int Taken { get; private set; }

        public override int Available => _end - _start;

        public void Arrive(byte[] bytes, bool handOver)
        {
            _array = pool.RentArray(Headroom + bytes.Length);
            bytes.CopyTo(_array, Headroom);
            (_start, _end, _handsOver) = (Headroom, Headroom + bytes.Length, handOver);
            GiveBackIfEmpty();
        }

        public override bool TryDetachBuffer([NotNullWhen(true)] out byte[]? array, out int start, out int length)
        {
            (array, start, length) = (_handsOver ? _array : null, _start, Available);
            if (array is null)
            {
                return false;
            }

            Taken++;
            _array = null;
            _start = _end = 0;
            return true;
        }

        public override WireStatus Receive(Span<byte> into, out int received)
        {
            received = Math.Min(into.Length, Available);
            _array.AsSpan(_start, received).CopyTo(into);
            _start += received;
            GiveBackIfEmpty();
            return received > 0 ? WireStatus.Done : WireStatus.WouldWait;
        }

        private void GiveBackIfEmpty()
        {
            if (Available == 0 && _array is not null)
            {
                pool.ReturnArray(_array);
                _array = null;
            }
        }
    }
}
