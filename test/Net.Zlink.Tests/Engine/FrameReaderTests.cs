using System.Net.Sockets;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

public sealed class FrameReaderTests
{
    [Fact]
    public async Task A_conversation_cut_anywhere_in_two_or_three_gives_the_same_frames_and_no_buffer_stays_out()
    {
        using var bench = await Fixture.OpenAsync(limit: 1_000);
        byte[][] payloads = [[], [1], [0], Pattern(3, 1), Pattern(17, 2), [], Pattern(9, 3)];
        byte[] wire = Frames(payloads);
        for (int first = 0; first <= wire.Length; first++)
        {
            for (int second = first; second <= wire.Length; second += 7)
            {
                foreach (byte[] part in (byte[][])[wire[..first], wire[first..second], wire[second..]])
                {
                    bench.SendAndRead(part);
                }

                bench.ExpectFrames(payloads);
                Assert.Equal(1, bench.Pool.GetStatistics().Live); // The shard's slab.
            }
        }
    }

    [Fact]
    public async Task A_conversation_that_comes_byte_by_byte_gives_its_frames()
    {
        using var bench = await Fixture.OpenAsync(limit: 1_000);
        byte[][] payloads = [Pattern(5, 1), [], Pattern(300, 2)];
        foreach (byte one in Frames(payloads))
        {
            bench.SendAndRead([one]);
        }

        bench.ExpectFrames(payloads);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(20_000)]
    public async Task Whole_frames_are_there_although_there_is_no_memory_for_the_beginning_of_the_next_one(int next)
    {
        using var bench = await Fixture.OpenAsync(limit: 1024 * 1024);
        byte[][] whole = [Pattern(3, 1), Pattern(17, 2)];
        bench.Pool.AllocateOnly(0);
        byte[] beginning = Frames([Pattern(next, 3)])[..50];
        bench.Peer.Send([.. Frames(whole), .. beginning]);
        bench.WaitFor(Frames(whole).Length + beginning.Length);
        bench.Reader.Read(int.MaxValue, out InboundBytes bytes);
        FrameScan scan = StreamFraming.Scan(bytes.Span, 1024 * 1024);
        Assert.Equal(whole, new FrameBatch(bytes with { Length = scan.Consumed }, scan).Payloads());
        Assert.Throws<OutOfMemoryException>(() => bench.Reader.TryKeep(bytes, FrameBatch.ResultOf(scan)));
        bench.Reader.Release();
        Assert.Equal(1, bench.Pool.GetStatistics().Live); // The shard's slab.
    }

    [Theory]
    [InlineData(8 * 1024)]
    [InlineData(16 * 1024)]
    [InlineData(64 * 1024)]
    [InlineData(256 * 1024)]
    [InlineData(901_120)]
    [InlineData(1024 * 1024)]
    public async Task Frames_around_a_boundary_arrive_whole_between_small_ones(int boundary)
    {
        using var bench = await Fixture.OpenAsync(limit: 2 * 1024 * 1024);
        List<byte[]> payloads = [];
        for (int length = boundary - 6; length <= boundary + 2; length++)
        {
            payloads.Add(Pattern(length, length));
            payloads.Add(Pattern(3, length));
        }

        byte[] wire = Frames([.. payloads]);
        var sender = Task.Run(() => bench.Peer.Send(wire), TestContext.Current.CancellationToken);
        bench.ReadBytes(wire.Length);
        Assert.Equal(wire.Length, await sender.WaitAsync(Patience, TestContext.Current.CancellationToken));
        bench.ExpectFrames([.. payloads]);
        Assert.Equal(1, bench.Pool.GetStatistics().Live);
    }

    [Theory]
    [InlineData(9_000, 7)]
    [InlineData(20_000, 3)]
    [InlineData(60_000, 1)]
    public async Task Behind_a_large_frame_those_of_its_size_come_with_one_read_that_copies_nothing(int length, int framesPerRead)
    {
        using var bench = await Fixture.OpenAsync(limit: 1024 * 1024);
        bench.ReceiveInTwo(length);
        for (int i = 0; i < 5; i++)
        {
            byte[][] next = [.. Enumerable.Range(0, framesPerRead).Select(n => Pattern(length, (10 * i) + n))];
            byte[] wire = Frames(next);
            bench.Peer.Send(wire); // Less than the smallest window of a new connection.
            bench.WaitFor(wire.Length);
            WireStatus status = bench.Read(out FrameBatch batch);
            Assert.Equal((WireStatus.Done, framesPerRead, true), (status, batch.Scan.Frames, batch.Bytes.OwnsSlab));
            Assert.Equal(wire, batch.Bytes.Span.ToArray());
            batch.Release();
            Assert.Equal(0, bench.Reader.BufferedBytes);
        }
    }

    [Theory]
    [InlineData(12_284)]
    [InlineData(16_380)]
    [InlineData(32_764)]
    [InlineData(49_148)]
    public async Task A_frame_longer_than_those_before_it_whose_beginning_fills_the_buffer_is_no_end(int length)
    {
        // With the header a size of the pool's: the buffer has no room beyond what is read into it.
        using var bench = await Fixture.OpenAsync(limit: 1024 * 1024);
        bench.ReceiveInTwo(length);
        byte[][] longer = [Pattern(200_000, 2)];
        byte[] wire = Frames(longer);
        // Less than the smallest window of a new connection, more than is expected but for the first size, where five fit.
        byte[] beginning = wire[..65_000];
        bench.SendAndRead(beginning);
        bench.SendAndRead(wire[65_000..120_000]);
        bench.SendAndRead(wire[120_000..160_000]);
        bench.SendAndRead(wire[160_000..]);
        bench.ExpectFrames(longer);
        Assert.Equal(1, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task Small_frames_behind_a_large_one_are_packed_in_the_shards_slab()
    {
        using var bench = await Fixture.OpenAsync(limit: 100_000);
        bench.ReceiveInTwo(60_000);
        byte[] wire = Frames([Pattern(100, 2), Pattern(100, 3)]);
        bench.Peer.Send(wire);
        bench.WaitFor(wire.Length);
        Assert.Equal(WireStatus.WouldWait, bench.Read(out FrameBatch batch));
        Assert.Equal((2, false, 0L), (batch.Scan.Frames, batch.Bytes.OwnsSlab, bench.FrameBytes));
        Assert.Equal(wire, batch.Bytes.Span.ToArray());
    }

    [Fact]
    public async Task A_broken_length_behind_large_frames_is_reported_and_nothing_is_kept()
    {
        using var bench = await Fixture.OpenAsync(limit: 60_000);
        bench.ReceiveInTwo(60_000);
        byte[] broken = [0, 0, 0xEA, 0x61, .. Pattern(40_000, 2)];
        bench.Peer.Send(broken);
        bench.WaitFor(broken.Length);
        bench.Read(out FrameBatch batch);
        Assert.Equal((0, true, 60_001u), (batch.Scan.Frames, batch.Scan.IsBroken, batch.Scan.Announced));
        batch.Release();
        Assert.Equal(0, bench.Reader.BufferedBytes);
        Assert.Equal(1, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task Frames_of_any_sizes_in_any_pieces_come_out_whole_and_no_buffer_stays_out()
    {
        Gen<int> lengths = Gen.Frequency(
            (3, Gen.Choose(0, 200)),
            (2, Gen.Choose(7_000, 20_000)),
            (3, Gen.Choose(65_000, 66_000)),
            (1, Gen.Choose(250_000, 270_000)));
        Gen<(int Length, int Times, int Cut)> steps =
            from length in lengths
            from times in Gen.Choose(1, 4)
            from cut in Gen.Frequency((2, Gen.Choose(1, 3_000)), (2, Gen.Choose(20_000, 50_000)), (1, Gen.Constant(50_000)))
            select (length, times, cut);
        using var bench = await Fixture.OpenAsync(limit: 1024 * 1024);
        ForAllArrays(steps, 100, all =>
        {
            byte[][] payloads = [.. all.SelectMany((step, i) => Enumerable.Range(0, step.Times).Select(n => Pattern(step.Length, i + n)))];
            byte[] wire = Frames(payloads);
            for (int at = 0, i = 0; at < wire.Length; i++)
            {
                int piece = Math.Min(all[i % all.Length].Cut, wire.Length - at); // Less than the smallest window of a new connection.
                bench.SendAndRead(wire[at..(at + piece)]);
                at += piece;
            }

            bench.ExpectFrames(payloads);
            Assert.Equal(1, bench.Pool.GetStatistics().Live);
        });
    }

    [Theory]
    [InlineData(0)]
    [InlineData(65_536)]
    [InlineData(250_000)]
    public async Task A_large_frame_holds_at_most_about_twice_what_has_arrived(int before)
    {
        using var bench = await Fixture.OpenAsync(limit: 4 * 1024 * 1024);
        byte[][] earlier = before > 0 ? [Pattern(before, 4)] : [];
        byte[] prologue = Frames(earlier);
        var sender = Task.Run(() => bench.Peer.Send(prologue), TestContext.Current.CancellationToken);
        bench.ReadBytes(prologue.Length);
        await sender;
        bench.ExpectFrames(earlier);
        byte[] wire = Frames([Pattern(3 * 1024 * 1024, 5)]);
        int arrived = 0;
        int step = 1;
        while (arrived < wire.Length)
        {
            int length = Math.Min(step, wire.Length - arrived);
            bench.SendAndRead(wire[arrived..(arrived + length)]);
            arrived += length;
            step = Math.Min(step * 2, 50_000);

            // Twice what has arrived, at least 16 KiB, up to the pool's next size. Below 4 bytes nothing is known of the frame, so its
            // bytes are just kept.
            long most = RoundUp(Math.Max(16 * 1_024, 2 * arrived));
            Assert.True(arrived == wire.Length || bench.FrameBytes <= most, $"{bench.FrameBytes} bytes are held for {arrived}.");
        }

        bench.ExpectFrames([wire[4..]]);
    }

    [Fact]
    public async Task A_thousand_peers_that_announce_2_GiB_and_send_one_byte_hold_16_KiB_each()
    {
        const int Peers = 1_000;
        using var bench = await Fixture.OpenAsync(limit: StreamFraming.LargestPayload);
        var readers = new FrameReader[Peers];
        byte[] hostile = [0x7F, 0xFF, 0xFF, 0x00, 1];
        for (int i = 0; i < Peers; i++)
        {
            readers[i] = bench.NewReader();
            bench.SendAndRead(hostile, ref readers[i]);
            Assert.True(readers[i].BufferedBytes > 0);
        }

        Assert.InRange(bench.FrameBytes, 1, Peers * 16 * 1_024);
        for (int i = 0; i < Peers; i++)
        {
            readers[i].Release();
        }

        Assert.Equal(1, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task A_length_over_the_limit_is_reported_behind_the_frames_before_it_and_nothing_is_kept()
    {
        using var bench = await Fixture.OpenAsync(limit: 10);
        byte[] bytes = [.. Frames([Pattern(10, 1)]), 0, 0, 0, 11, 1, 2, 3];
        bench.Peer.Send(bytes);
        bench.WaitFor(bytes.Length);
        bench.Read(out FrameBatch batch);
        Assert.Equal([Pattern(10, 1)], batch.Payloads());
        Assert.Equal((true, 11u), (batch.Scan.IsBroken, batch.Scan.Announced));
        Assert.Equal(0, bench.Reader.BufferedBytes);
        Assert.Equal(1, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task The_peers_end_and_a_reset_are_told_apart_and_a_held_part_is_given_back()
    {
        foreach (bool reset in (bool[])[false, true])
        {
            foreach (byte[] part in (byte[][])[[0, 0], [0, 0, 0x40, 0, 9]])
            {
                using var bench = await Fixture.OpenAsync(limit: 100_000);
                bench.SendAndRead(part);
                Assert.True(bench.Reader.BufferedBytes > 0);
                bench.Peer.Close(reset ? 0 : -1);
                Assert.True(bench.Ours.Poll(Patience, SelectMode.SelectRead));
                WireStatus status = bench.Read(out FrameBatch batch);
                Assert.Equal(reset ? WireStatus.Failed : WireStatus.Ended, status);
                Assert.Equal(reset ? SocketError.ConnectionReset : SocketError.Success, bench.Wire.Error);
                Assert.Equal(0, batch.Scan.Frames);
                bench.Reader.Release();
                bench.Reader.Release();
                Assert.Equal(1, bench.Pool.GetStatistics().Live);
            }
        }
    }

    [Fact]
    public async Task Kept_frames_are_not_overwritten_by_the_next_read()
    {
        using var bench = await Fixture.OpenAsync(limit: 100_000);
        var kept = new List<(Slab Slab, int Offset, byte[] Wire)>();
        for (int i = 0; i < 40; i++)
        {
            byte[] wire = Frames([Pattern(7_000, i)]);
            bench.Peer.Send(wire);
            bench.WaitFor(wire.Length);
            bench.Read(out FrameBatch batch);
            Assert.Equal(1, batch.Scan.Frames);
            batch.Bytes.Slab.AddReference();
            bench.Slabs.Retain(batch.Bytes.Slab, batch.Bytes.Offset + batch.Bytes.Length);
            kept.Add((batch.Bytes.Slab, batch.Bytes.Offset, wire));
        }

        Assert.All(kept, k => Assert.Equal(k.Wire, k.Slab.Array.AsSpan(k.Offset, k.Wire.Length).ToArray()));
        Assert.True(kept.DistinctBy(k => k.Slab).Count() > 1);
        kept.ForEach(k => k.Slab.Release());
        Assert.Equal(1, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task Reading_frames_allocates_nothing()
    {
        using var bench = await Fixture.OpenAsync(limit: 100_000);
        byte[] whole = Frames([Pattern(100, 1), Pattern(100, 2)]);
        byte[] head = whole[..50];
        byte[] rest = whole[50..];
        long allocated = Allocations.OfPieces(
            pieces =>
            {
                bench.Peer.Send(head);
                bench.WaitFor(head.Length);
                pieces.Begin();
                bench.Read(out _);
                pieces.End();
                bench.Peer.Send(rest);
                bench.WaitFor(rest.Length);
                pieces.Begin();
                bench.Read(out FrameBatch batch);
                pieces.End();
                Assert.Equal(2, batch.Scan.Frames);
            },
            rounds: 100);
        Assert.Equal(0, allocated);
    }

    [Fact]
    public async Task Discarding_counts_what_it_throws_away_and_sees_the_end()
    {
        using var bench = await Fixture.OpenAsync(limit: 10);
        long discarded = 0;
        Assert.Equal(WireStatus.WouldWait, FrameReader.Discard(bench.Wire, bench.Slabs, ref discarded));
        bench.Peer.Send(new byte[1_000]);
        bench.WaitFor(1_000);
        Assert.Equal(WireStatus.WouldWait, FrameReader.Discard(bench.Wire, bench.Slabs, ref discarded));
        Assert.Equal(1_000, discarded);
        bench.Peer.Shutdown(SocketShutdown.Send);
        Assert.True(bench.Ours.Poll(Patience, SelectMode.SelectRead));
        Assert.Equal(WireStatus.Ended, FrameReader.Discard(bench.Wire, bench.Slabs, ref discarded));
    }

    private static long RoundUp(int length) =>
        length > SizeClasses.LargestSize ? length : SizeClasses.Sizes[SizeClasses.IndexOf(length)];

    /// <summary>A reader at the end of a real connection.</summary>
    private sealed class Fixture : IDisposable
    {
        private readonly Slab.SlabCache _cache;
        private readonly List<byte[]> _frames = [];
        private readonly long _slabBytes;
        private readonly long _limit;

        public FrameReader Reader;

        private Fixture(Socket peer, Socket ours, long limit)
        {
            (Peer, Ours, Wire) = (peer, ours, new SocketWire(ours, Tcp));
            _limit = limit;
            Pool = TestPools.Create();
            _cache = new Slab.SlabCache(Pool);
            Slabs = new ReceiveSlab(_cache);
            Slab slab = Slabs.Acquire(0, out _, out _);
            _slabBytes = slab.Array.Length;
            Reader = NewReader();
        }

        public Socket Peer { get; }

        public Socket Ours { get; }

        public SocketWire Wire { get; }

        public BufferPool Pool { get; }

        public ReceiveSlab Slabs { get; }

        /// <summary>Bytes in buffers that incomplete frames have to themselves.</summary>
        public long FrameBytes => _cache.OutstandingBytes - _slabBytes;

        public static async Task<Fixture> OpenAsync(long limit)
        {
            (Socket peer, Socket ours) = await ConnectedPairAsync();
            return new Fixture(peer, ours, limit);
        }

        public FrameReader NewReader() => new(Wire, Slabs, Pool);

        public WireStatus Read(out FrameBatch batch) => FrameBatch.Read(ref Reader, _limit, out batch);

        public void SendAndRead(byte[] bytes) => SendAndRead(bytes, ref Reader);

        /// <summary>One large frame in two pieces, so that it gets a buffer of its own.</summary>
        public void ReceiveInTwo(int length)
        {
            byte[][] payloads = [Pattern(length, 1)];
            byte[] wire = Frames(payloads);
            SendAndRead(wire[..1_000]);
            SendAndRead(wire[1_000..]);
            ExpectFrames(payloads);
        }

        public void SendAndRead(byte[] bytes, ref FrameReader reader)
        {
            if (bytes.Length == 0)
            {
                return;
            }

            Assert.Equal(bytes.Length, Peer.Send(bytes));
            WaitFor(bytes.Length);
            do
            {
                Read(ref reader);
            }
            while (Ours.Available > 0);
        }

        /// <summary>Reads until so many bytes of whole frames are in.</summary>
        public void ReadBytes(int length)
        {
            while (_frames.Sum(f => (long)f.Length + StreamFraming.HeaderSize) < length)
            {
                Assert.True(Ours.Poll(Patience, SelectMode.SelectRead));
                Read(ref Reader);
            }
        }

        /// <summary>Waits until so many bytes can be read at once.</summary>
        public void WaitFor(int length) =>
            Assert.True(SpinWait.SpinUntil(() => Ours.Available >= length, Patience), "What was sent over loopback did not arrive.");

        public void ExpectFrames(byte[][] payloads)
        {
            Assert.Equal(payloads.Length, _frames.Count);
            for (int i = 0; i < payloads.Length; i++)
            {
                Assert.True(payloads[i].AsSpan().SequenceEqual(_frames[i]), $"Frame {i} differs.");
            }

            _frames.Clear();
        }

        public void Dispose()
        {
            Reader.Release();
            Slabs.Release();
            Peer.Dispose();
            Wire.Dispose();
            Assert.Equal(0, Pool.GetStatistics().Live);
            Pool.Dispose();
        }

        private void Read(ref FrameReader reader)
        {
            WireStatus status = FrameBatch.Read(ref reader, _limit, out FrameBatch batch);
            Assert.True(status is WireStatus.Done or WireStatus.WouldWait, $"The peer has not ended, but a read says {status}.");
            _frames.AddRange(batch.Payloads());
            batch.Release();
        }
    }
}
