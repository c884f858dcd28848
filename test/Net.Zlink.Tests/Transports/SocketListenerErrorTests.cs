using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports;

public sealed class SocketListenerErrorTests : IDisposable
{
    private readonly ManualTimeProvider _clock = new();
    private readonly RecordingSink _sink = new();

    [Fact]
    public async Task After_a_peers_error_the_next_connection_is_accepted_at_once()
    {
        var script = new ScriptedAccept(SocketError.ConnectionReset, SocketError.ConnectionAborted);
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: script.Accept);
        listener.Start(_sink, _clock);

        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        await _sink.NextAsync();

        Assert.Equal((SocketError.ConnectionReset, TimeSpan.Zero), await _sink.NextFailureAsync());
        Assert.Equal((SocketError.ConnectionAborted, TimeSpan.Zero), await _sink.NextFailureAsync());
        Assert.Equal(0, _clock.ArmedTimers);
    }

    [Fact]
    public async Task Out_of_descriptors_the_listener_waits_and_then_accepts_what_has_queued_up()
    {
        var script = new ScriptedAccept(SocketError.TooManyOpenSockets);
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: script.Accept);
        listener.Start(_sink, _clock);
        Assert.Equal((SocketError.TooManyOpenSockets, Ms(10)), await _sink.NextFailureAsync());
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);

        _clock.Advance(Ms(9));
        Assert.Equal(1, script.Calls);
        Assert.Equal(0, _sink.AcceptedCount);

        _clock.Advance(Ms(1));
        await _sink.NextAsync();
    }

    [Fact]
    public async Task The_back_off_doubles_up_to_a_second_and_starts_anew_after_a_success()
    {
        var script = new ScriptedAccept([.. Enumerable.Repeat(SocketError.NoBufferSpaceAvailable, 9)]);
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: script.Accept);
        listener.Start(_sink, _clock);

        var calls = 0;
        foreach (var expected in new[] { 10, 20, 40, 80, 160, 320, 640, 1000, 1000 })
        {
            Assert.Equal((SocketError.NoBufferSpaceAvailable, Ms(expected)), await _sink.NextFailureAsync());
            calls++;
            _clock.Advance(Ms(expected - 1));
            Assert.Equal(calls, script.Calls);
            _clock.Advance(Ms(1));
        }

        script.Add(SocketError.TooManyOpenSockets);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        await _sink.NextAsync();
        Assert.Equal((SocketError.TooManyOpenSockets, Ms(10)), await _sink.NextFailureAsync());
    }

    [Fact]
    public async Task A_peers_error_that_never_ends_makes_the_listener_wait_instead_of_spin()
    {
        var script = new ScriptedAccept { Always = SocketError.ConnectionReset };
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: script.Accept);
        listener.Start(_sink, _clock);

        (SocketError Error, TimeSpan BackOff) failure;
        do
        {
            failure = await _sink.NextFailureAsync();
        }
        while (failure.BackOff == TimeSpan.Zero);

        Assert.Equal((SocketError.ConnectionReset, Ms(10)), failure);
        Assert.Equal(256, script.Calls);
        _clock.Advance(Ms(10));
        Assert.Equal((SocketError.ConnectionReset, Ms(20)), await _sink.NextFailureAsync());
        Assert.Equal(257, script.Calls);
    }

    [Fact]
    public async Task A_fatal_error_closes_the_listener_and_says_so_once()
    {
        var script = new ScriptedAccept(SocketError.NotSocket);
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: script.Accept);
        listener.Start(_sink, _clock);

        Assert.Equal(SocketError.NotSocket, await _sink.ClosedAsync());
        listener.Dispose();
        listener.Dispose();
        Assert.Equal(1, _sink.ClosedCount);
        using var again = TcpTest.Listen(listener.Endpoint);
        Assert.Equal(listener.Endpoint, again.Endpoint);
    }

    [Fact]
    public async Task A_listening_socket_that_breaks_underneath_is_reported_as_closed()
    {
        Socket? inner = null;
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: socket =>
        {
            inner = socket;
            return socket.AcceptAsync(CancellationToken.None);
        });
        listener.Start(_sink, _clock);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        await _sink.NextAsync();

        inner!.Dispose();

        Assert.Equal(SocketError.OperationAborted, await _sink.ClosedAsync());
    }

    [Fact]
    public async Task An_accept_that_throws_is_an_error_like_any_other()
    {
        var calls = 0;
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: socket => ++calls switch
        {
            1 => throw new SocketException((int)SocketError.ConnectionReset),
#pragma warning disable MA0012 // it is the runtime's own that is played here
            2 => throw new OutOfMemoryException(),
#pragma warning restore MA0012
            3 => throw new InvalidOperationException("broken"),
            _ => socket.AcceptAsync(CancellationToken.None),
        });
        listener.Start(_sink, _clock);

        Assert.Equal((SocketError.ConnectionReset, TimeSpan.Zero), await _sink.NextFailureAsync());
        Assert.Equal((SocketError.NoBufferSpaceAvailable, Ms(10)), await _sink.NextFailureAsync());
        _clock.Advance(Ms(10));
        Assert.Equal(SocketError.OperationAborted, await _sink.ClosedAsync());
    }

    [Fact]
    public async Task A_listener_that_is_closed_while_it_waits_leaves_no_timer_behind()
    {
        var script = new ScriptedAccept { Always = SocketError.TooManyOpenSockets };
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: script.Accept);
        listener.Start(_sink, _clock);
        await _sink.NextFailureAsync();
        Assert.Equal(1, _clock.ArmedTimers);

        listener.Dispose();

        Assert.Equal(0, _clock.ArmedTimers);
        _clock.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(1, script.Calls);
        Assert.Equal(0, _sink.ClosedCount);
    }

    [Fact]
    public async Task A_sink_that_throws_loses_that_connection_only()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        var first = true;
        _sink.Accepting = _ =>
        {
            if (first)
            {
                first = false;
                throw new InvalidOperationException("broken sink");
            }
        };
        listener.Start(_sink, _clock);

        using var refused = await TcpTest.ConnectedAsync(listener.Endpoint);
        Assert.True(await TcpTest.EndsInOrderAsync(refused));
        Assert.Equal((SocketError.SocketError, TimeSpan.Zero), await _sink.NextFailureAsync());

        using var taken = await TcpTest.ConnectedAsync(listener.Endpoint);
        await _sink.NextAsync();
    }

    public void Dispose() => _sink.Dispose();

    private static TimeSpan Ms(int milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
