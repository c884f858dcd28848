using System.Buffers;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.WebSocket;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>What the instruments say of STREAM sockets, of the pool's largest buffers and of waits for the thread pool.</summary>
public sealed class StreamMeterTests
{
    [Fact]
    public async Task Connections_are_told_by_direction_and_those_turned_away_apart()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(out string endpoint, new StreamOptions { MaxConnections = 2 });
        StreamSocket client = fixture.Context.CreateStream();
        await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        await fixture.ConnectAsync(endpoint);
        await server.NextConnectedAsync();
        await server.NextConnectedAsync();
        await (await fixture.ConnectAsync(endpoint)).ReadToAnyEndAsync();
        AssertRead(fixture, ("zlink.socket.connections/STREAM/accepted", 3), ("zlink.socket.connections/STREAM/dialled", 1),
            ("zlink.socket.refused/STREAM", 1), ("zlink.socket.peers/STREAM", 3));
    }

    [Fact]
    public async Task STREAM_instruments_count_queued_and_dropped_by_cause_and_keep_the_drops_of_closed_sockets()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { SendHighWaterMark = 5, SendBufferSize = 16 * 1024, Linger = TimeSpan.Zero });
        RawPeer talker = await fixture.ConnectAsync(endpoint);
        uint talkerId = await socket.NextConnectedAsync();
        await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
        uint silentId = await socket.NextConnectedAsync();
        Assert.Equal(5, socket.Fill(silentId));
        await talker.SendAsync(Wire.Frames([1], [2], [3]));
        await fixture.UntilAsync(() => socket.GetStatistics().UnreadMessages == 3);
        AssertRead(fixture, ("zlink.socket.queued/STREAM", 5), ("zlink.socket.unread/STREAM", 3),
            ("zlink.socket.dropped/STREAM/connection_lost", 0), ("zlink.socket.dropped/STREAM/unread", 0));

        Assert.True(socket.TryGetPeer(silentId, out StreamPeer? silent));
        silent.Disconnect(abort: true);
        Assert.True(socket.Disconnect(talkerId));
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 2);
        AssertRead(fixture, ("zlink.socket.queued/STREAM", 0), ("zlink.socket.unread/STREAM", 0),
            ("zlink.socket.dropped/STREAM/connection_lost", 5), ("zlink.socket.dropped/STREAM/unread", 3));

        socket.Dispose();
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().Sockets == 0);
        AssertRead(fixture, ("zlink.socket.queued/STREAM", 0), ("zlink.socket.unread/STREAM", 0),
            ("zlink.socket.dropped/STREAM/connection_lost", 5), ("zlink.socket.dropped/STREAM/unread", 3));
    }

    [Fact]
    public async Task Handshakes_that_failed_are_told_by_cause_also_of_sockets_that_have_gone()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.HandshakeInterval = TimeSpan.FromSeconds(7);
        string endpoint = RawWebSocket.TcpOf(server.Bind("ws://127.0.0.1:0"));
        RawPeer lost = await fixture.ConnectAsync(endpoint);
        lost.EndSending();
        await lost.ReadToAnyEndAsync();
        RawPeer malformed = await fixture.ConnectAsync(endpoint);
        await malformed.SendAsync("this is no request\r\n\r\n"u8.ToArray());
        malformed.EndSending();
        await malformed.ReadToAnyEndAsync();
        await fixture.UntilAsync(() => server.GetStatistics().FailedHandshakes == 2);

        // Half a request, then nothing.
        int idle = time.ArmedTimers;
        RawPeer silent = await fixture.ConnectAsync(endpoint);
        await silent.SendAsync("GET / HTTP/1.1\r\nHost"u8.ToArray());
        await fixture.UntilAsync(() => fixture.Context.Host.Handshakes.Running == 1 && time.ArmedTimers > idle);
        time.Advance(TimeSpan.FromSeconds(8));
        await silent.ReadToAnyEndAsync();
        await fixture.UntilAsync(() => server.GetStatistics().FailedHandshakes == 3);
        Assert.Equal(new HandshakeFailureCounts { Lost = 1, TimedOut = 1, Malformed = 1 }, server.GetStatistics().HandshakeFailures);
        AssertFailed(lost: 1, timedOut: 1, malformed: 1);
        server.Dispose();
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().Sockets == 0);
        AssertFailed(lost: 1, timedOut: 1, malformed: 1);

        void AssertFailed(int lost, int timedOut, int malformed) => AssertRead(
            fixture,
            ("zlink.socket.failed_handshakes/STREAM/lost", lost),
            ("zlink.socket.failed_handshakes/STREAM/timed_out", timedOut),
            ("zlink.socket.failed_handshakes/STREAM/malformed", malformed),
            ("zlink.socket.failed_handshakes/STREAM/certificate", 0));
    }

    [Fact]
    public async Task A_certificate_that_is_not_accepted_is_the_cause_at_the_side_that_connects()
    {
        using var own = new TestCertificates();
        await using var there = new StreamFixture();
        await using var here = new StreamFixture();
        StreamSocket server = there.Context.CreateStream();
        server.Options.Tls.Certificate = own.Server;
        StreamSocket client = here.Context.CreateStream();
        client.Options.Tls.CaFile = own.CaFile;
        client.Options.Tls.HostName = "elsewhere.example";
        await Assert.ThrowsAsync<ZlinkException>(() => client.ConnectAsync(server.Bind("tls://127.0.0.1:0"), Guard.Token).Guarded());
        AssertRead(here, ("zlink.socket.failed_handshakes/STREAM/certificate", 1), ("zlink.socket.failed_handshakes/STREAM/lost", 0),
            ("zlink.socket.connections/STREAM/dialled", 1));
    }

    [Fact]
    public async Task Only_sizes_of_the_pool_that_were_rented_are_reported()
    {
        await using var context = new ZlinkContext(); // Its pool is warmed: most sizes have a buffer that nobody has asked for.
        int before = PoolSeries(context).Count;
        int size = context.Pool.GetStatistics().Classes.First(static one => one.Rented == 0).Size;
        context.Pool.Rent(size).Dispose();
        IReadOnlyList<string> series = PoolSeries(context);
        Assert.Equal(before + 5, series.Count);
        Assert.Contains(string.Create(System.Globalization.CultureInfo.InvariantCulture, $"zlink.pool.rented/{size}"), series,
            StringComparer.Ordinal);

        static IReadOnlyList<string> PoolSeries(ZlinkContext context) =>
            [.. MeterReadings.Of(context).Keys.Where(
                static key => key.StartsWith("zlink.pool.", StringComparison.Ordinal) && key.Contains('/', StringComparison.Ordinal))];
    }

    [Fact]
    public async Task What_the_pool_retains_is_in_the_statistics_the_meter_and_the_description()
    {
        const int Limit = 20_000_000;
        const int Size = 5_357_568; // A class of its own.
        await using var context = new ZlinkContext(new ZlinkContextOptions { QueuedByteLimit = Limit });
        await using StreamSocket socket = context.CreateStream();
        long before = context.GetStatistics().PoolRetainedBytes;
        IMemoryOwner<byte>[] rented = [context.Pool.Rent(Size), context.Pool.Rent(Size)];
        Array.ForEach(rented, static one => one.Dispose()); // The second does not fit.

        ContextStatistics statistics = context.GetStatistics();
        Assert.Equal(Limit / 2, statistics.PoolRetainedByteLimit);
        Assert.Equal(before + Size, statistics.PoolRetainedBytes);
        Assert.Equal(before + Size, MeterReadings.Of(context)["zlink.pool.retained_bytes"]);
        Assert.Contains($"{before + Size} retained of at most {Limit / 2}", socket.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Buffers_beyond_the_largest_size_are_told()
    {
        const int Size = 20_000_000; // The largest class is of 8.5 MB.
        await using var fixture = new StreamFixture();
        using (IMemoryOwner<byte> large = fixture.Pool.Rent(Size))
        {
            AssertRead(fixture, ("zlink.pool.oversize_rented", 1), ("zlink.pool.oversize_live", 1),
                ("zlink.pool.oversize_live_bytes", Size));
        }

        AssertRead(fixture, ("zlink.pool.oversize_rented", 1), ("zlink.pool.oversize_live", 0), ("zlink.pool.oversize_live_bytes", 0));
    }

    [Fact]
    public async Task Waits_for_the_thread_pool_are_told_as_a_sum_and_how_many()
    {
        await using var fixture = new StreamFixture(shards: 1);
        await fixture.Context.WhenIdleAsync().Guarded();
        ShardStatistics before = fixture.Context.GetStatistics().Shards[0];
        Dictionary<string, double> readings = MeterReadings.Of(fixture.Context);
        ShardStatistics after = fixture.Context.GetStatistics().Shards[0];
        Assert.InRange(before.RunsFromPool, 1, long.MaxValue);
        Assert.InRange(before.TotalDelay, TimeSpan.FromTicks(1), TimeSpan.MaxValue);
        Assert.InRange(readings["zlink.shard.runs_from_pool/0"], before.RunsFromPool, after.RunsFromPool);
        Assert.InRange(readings["zlink.shard.delay/0"], before.TotalDelay.TotalSeconds, after.TotalDelay.TotalSeconds);
        Assert.InRange(readings["zlink.shard.late_runs/0"], before.LateRuns, after.LateRuns);
    }

    private static void AssertRead(StreamFixture fixture, params (string Name, double Value)[] expected)
    {
        Dictionary<string, double> readings = MeterReadings.Of(fixture.Context);
        foreach ((string name, double value) in expected)
        {
            Assert.True(readings.TryGetValue(name, out double read),
                $"nothing is told of {name}, but of {string.Join(", ", readings.Keys)}");
            Assert.True(read == value, $"{name} is {read}, not {value}");
        }
    }
}
