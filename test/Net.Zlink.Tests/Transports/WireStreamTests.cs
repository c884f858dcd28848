using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Transports;

/// <summary>What the libraries of TLS and WebSocket read from and write to: in a handshake, and behind it, where a read rests until it is
/// continued.</summary>
public sealed class WireStreamTests : IAsyncLifetime
{
    private Socket _peer = null!;
    private Socket _ours = null!;
    private WireStream _stream = null!;

    public async ValueTask InitializeAsync()
    {
        (_peer, _ours) = await ConnectedPairAsync();
        _ours.Blocking = true; // As the stream asks for.
        _stream = new WireStream(_ours, BufferPool.Shared);
    }

    public async ValueTask DisposeAsync()
    {
        await _stream.DisposeAsync();
        _peer.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_wire_stream_reads_bytes_that_are_there_and_waits_for_others(bool isHandshakeOver)
    {
        Begin(isHandshakeOver);
        byte[] buffer = new byte[10];
        for (int i = 0; i < 50; i++)
        {
            Task<int> waiting = _stream.ReadAsync(buffer, CancellationToken.None).AsTask();
            Assert.False(waiting.IsCompleted);
            _peer.Send([1, 2, 3]);
            Assert.Equal(3, await ContinueAsync(waiting));
            _peer.Send([4, 5]);
            Assert.True(_ours.Poll(Patience, SelectMode.SelectRead));
            Task<int> there = _stream.ReadAsync(buffer, CancellationToken.None).AsTask();
            Assert.True(there.IsCompletedSuccessfully);
            Assert.Equal((2, 4, 5), (await there, buffer[0], buffer[1]));
        }

        _peer.Shutdown(SocketShutdown.Send);
        Assert.Equal(0, await ContinueAsync(_stream.ReadAsync(buffer, CancellationToken.None).AsTask()));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(10)]
    [InlineData(32 * 1024)]
    public async Task A_library_goes_on_in_the_thread_that_continues_it_and_not_before_there_is_something(int length)
    {
        Begin(isHandshakeOver: true);
        int thread = 0;
        async Task<int> ReadAsync()
        {
            int read = await _stream.ReadAsync(new byte[length], CancellationToken.None).ConfigureAwait(false);
            thread = Environment.CurrentManagedThreadId;
            return read;
        }

        Task<int> reading = ReadAsync();
        Assert.True(_stream.IsResting);
        Assert.False(_stream.TryContinue());
        _peer.Send([1, 2, 3]);
        Assert.True(_ours.Poll(Patience, SelectMode.SelectRead));
        Assert.True(_stream.TryContinue());
        Assert.True(reading.IsCompleted);
        Assert.Equal((Math.Min(3, length), Environment.CurrentManagedThreadId), (await reading, thread));
    }

    [Fact]
    public async Task The_reads_of_a_library_fail_at_the_end_of_its_wire_also_those_that_rest()
    {
        Begin(isHandshakeOver: true);
        Task<int> resting = _stream.ReadAsync(new byte[10], CancellationToken.None).AsTask();
        _stream.FailReads();
        await Assert.ThrowsAsync<IOException>(() => resting.Guarded());
        await Assert.ThrowsAsync<IOException>(
            async () => Assert.Fail($"read {await _stream.ReadAsync(new byte[10], CancellationToken.None)}"));
    }

    [Fact]
    public async Task Who_waits_for_a_library_that_is_elsewhere_hears_of_its_rest_once()
    {
        Begin(isHandshakeOver: true);
        int rests = 0;
        _stream.OnRest = () => rests++;
        Assert.True(_stream.AwaitRest());
        Task<int> reading = _stream.ReadAsync(new byte[10], CancellationToken.None).AsTask();
        Assert.False(_stream.AwaitRest());
        _peer.Send([1]);
        Assert.Equal(1, await ContinueAsync(reading));
        reading = _stream.ReadAsync(new byte[10], CancellationToken.None).AsTask();
        Assert.Equal(1, rests);
        _stream.FailReads();
        await Record.ExceptionAsync(() => reading.Guarded());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_session_that_goes_through_a_MiB_within_one_read_is_ended_and_one_whose_reads_end_is_not(bool isOneRead)
    {
        Begin(isHandshakeOver: true);
        using var end = new CancellationTokenSource();
        Task talking = Task.Run(
            () =>
            {
                try
                {
                    while (!end.IsCancellationRequested)
                    {
                        _peer.Send(new byte[16 * 1024]);
                    }
                }
                catch (Exception e) when (e is SocketException or ObjectDisposedException)
                {
                    // The test is over.
                }
            },
            Guard.Token);
        byte[] buffer = new byte[16 * 1024];
        long read = 0;
        _stream.IsOfTls = true;
        _stream.BeginSession(isTls13: false);
        _stream.BeginSessionRead();
        async Task ReadAsync()
        {
            while (read < 4 * 1024 * 1024)
            {
                if (!isOneRead)
                {
                    _stream.BeginTurn();
                    _stream.BeginSessionRead();
                }

                read += await ContinueAsync(_stream.ReadAsync(buffer, CancellationToken.None).AsTask());
            }
        }

        if (isOneRead)
        {
            Assert.Contains("without any data", (await Assert.ThrowsAsync<IOException>(() => ReadAsync().Guarded())).Message,
                StringComparison.Ordinal);
            Assert.InRange(read, 1024 * 1024, (1024 + 64) * 1024);
        }
        else
        {
            await ReadAsync().Guarded();
        }

        await end.CancelAsync();
        _peer.Dispose();
        await talking.Guarded();
    }

    [Fact]
    public async Task The_first_wait_of_a_TLS_session_ends_at_once_if_there_is_nothing_so_that_it_gives_its_handshakes_buffer_back()
    {
        BeginSession();
        Assert.True(_stream.MayEndEarly);
        await Assert.ThrowsAsync<NoDataYetException>(
            async () => Assert.Fail($"read {await _stream.ReadAsync(Memory<byte>.Empty, CancellationToken.None)}"));
        Assert.False(_stream.MayEndEarly);
        await AssertWaitsAsync();
    }

    [Fact]
    public async Task The_first_wait_of_a_TLS_session_that_finds_something_is_over_like_any_other()
    {
        BeginSession();
        _peer.Send([1]);
        Assert.True(_ours.Poll(Patience, SelectMode.SelectRead));
        Assert.Equal(0, await _stream.ReadAsync(Memory<byte>.Empty, CancellationToken.None).AsTask().Guarded());
        Assert.Equal(1, await _stream.ReadAsync(new byte[10], CancellationToken.None).AsTask().Guarded());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public async Task A_TLS_session_that_has_got_data_waits_like_any_other(int earlyEnds)
    {
        BeginSession(earlyEnds);
        _peer.Send([1]);
        Assert.Equal(1, await _stream.ReadAsync(new byte[10], CancellationToken.None).AsTask().Guarded());
        _stream.EndSessionRead(1);
        Assert.False(_stream.MayEndEarly);
        _stream.BeginSessionRead();
        await AssertWaitsAsync();
    }

    [Fact]
    public async Task As_many_reads_of_a_TLS_session_as_are_to_end_early_do_so_where_what_they_took_was_no_data()
    {
        const int EarlyEnds = 2;
        BeginSession(EarlyEnds);
        for (int i = 0; i < EarlyEnds; i++)
        {
            _stream.BeginSessionRead();
            _peer.Send([1]);
            Assert.Equal(1, await _stream.ReadAsync(new byte[10], CancellationToken.None).AsTask().Guarded());
            await Assert.ThrowsAsync<NoDataYetException>(
                async () => Assert.Fail($"read {await _stream.ReadAsync(new byte[10], CancellationToken.None)}"));
        }

        Assert.True(_stream.MayEndEarly); // It has not waited yet.
        _stream.BeginSessionRead();
        _peer.Send([1]);
        Assert.Equal(1, await _stream.ReadAsync(new byte[10], CancellationToken.None).AsTask().Guarded());
        Task<int> waiting = _stream.ReadAsync(new byte[10], CancellationToken.None).AsTask();
        Assert.False(waiting.IsCompleted);
        _peer.Send([2]);
        Assert.Equal(1, await ContinueAsync(waiting));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_write_that_the_kernel_has_no_room_for_goes_on_where_it_stopped(bool isHandshakeOver)
    {
        _ours.SendBufferSize = _peer.ReceiveBufferSize = 64 * 1024; // However much the machine would give.
        Begin(isHandshakeOver);
        byte[] all = new byte[20_000_000];
        new Random(1).NextBytes(all);
        Task writing = _stream.WriteAsync(all, CancellationToken.None).AsTask();
        Assert.True(OperatingSystem.IsWindows() || !writing.IsCompleted); // There a send takes all.
        Task behind = _stream.WriteAsync(new byte[] { 1, 2, 3 }, CancellationToken.None).AsTask();
        byte[] came = new byte[all.Length];
        await using var reader = new NetworkStream(_peer);
        await reader.ReadExactlyAsync(came, Guard.Token).Guarded();
        byte[] last = new byte[3];
        await reader.ReadExactlyAsync(last, Guard.Token).Guarded();
        await Task.WhenAll(writing, behind).Guarded();
        Assert.Equal([1, 2, 3], last);
        Assert.True(all.AsSpan().SequenceEqual(came), "other bytes came, or in another order");
    }

    [Fact]
    public async Task A_library_that_reads_on_and_on_rests_until_the_next_turn()
    {
        Begin(isHandshakeOver: true);
        byte[] buffer = new byte[16 * 1024];
        _stream.BeginTurn();
        for (int i = 0; i < 9; i++)
        {
            await SendAsync();
            Assert.Equal(buffer.Length, await _stream.ReadAsync(buffer, CancellationToken.None));
        }

        await SendAsync();
        Assert.True(_stream.IsTurnOver);
        Task<int> reading = _stream.ReadAsync(buffer, CancellationToken.None).AsTask();
        Assert.False(_stream.TryContinue());
        _stream.BeginTurn();
        Assert.True(_stream.TryContinue());
        Assert.Equal(buffer.Length, await reading);

        async Task SendAsync()
        {
            _peer.Send(buffer);
            await Guard.UntilAsync(() => _ours.Available >= buffer.Length, "what was sent has come");
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_broken_or_disposed_socket_throws_as_a_stream_does(bool isDisposed)
    {
        Begin(isHandshakeOver: true);
        if (isDisposed)
        {
            _ours.Dispose();
        }
        else
        {
            _peer.LingerState = new LingerOption(enable: true, seconds: 0);
            _peer.Dispose();
            Assert.True(_ours.Poll(Patience, SelectMode.SelectRead));
        }

        _stream.BeginTurn();
        Exception? read = await Record.ExceptionAsync(
            async () => await _stream.ReadAsync(new byte[10], CancellationToken.None).AsTask().Guarded());
        Exception? write = await Record.ExceptionAsync(
            async () => await _stream.WriteAsync(new byte[10], CancellationToken.None).AsTask().Guarded());
        Assert.All(new[] { read!, write! }, static e => Assert.True(IoStreamErrors.IsOfStream(e), e?.ToString()));
        Assert.True(isDisposed || IoStreamErrors.ErrorOf(read!) == SocketError.ConnectionReset, read!.ToString());
    }

    [Fact]
    public void The_end_of_the_handshake_of_a_connection_that_was_closed_meanwhile_is_no_failure()
    {
        _ours.Dispose();
        Assert.Equal(0, _stream.EndHandshake());
    }

    /// <summary>A read that only waits does so until something comes.</summary>
    private async Task AssertWaitsAsync()
    {
        Task<int> waiting = _stream.ReadAsync(Memory<byte>.Empty, CancellationToken.None).AsTask();
        Assert.False(waiting.IsCompleted);
        _peer.Send([1]);
        Assert.Equal(0, await ContinueAsync(waiting));
    }

    /// <summary>As a wire does. In a handshake nothing rests.</summary>
    private async Task<int> ContinueAsync(Task<int> reading)
    {
        await Guard.UntilAsync(
            () =>
            {
                _stream.BeginTurn();
                _stream.TryContinue();
                return reading.IsCompleted;
            },
            "the read is over");
        return await reading;
    }

    private void BeginSession(int earlyEnds = 0)
    {
        _stream.IsOfTls = true;
        _stream.BeginSession(isTls13: true, earlyEnds);
        _stream.EndHandshake();
        _stream.BeginSessionRead();
    }

    private void Begin(bool isHandshakeOver)
    {
        if (isHandshakeOver)
        {
            _stream.EndHandshake();
        }
    }
}
