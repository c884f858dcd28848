using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Net.Zlink.Transports.Tcp;
using Xunit;

namespace Net.Zlink.Tests.Transports;

public sealed class SocketListenerTests : IDisposable
{
    private readonly RecordingSink _sink = new();

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_thousand_connections_in_a_burst_are_all_accepted()
    {
        const int Count = 1_000;
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        listener.Start(_sink, TimeProvider.System);

        var clients = await Task.WhenAll(Enumerable.Range(0, Count).Select(_ => TcpTest.ConnectedAsync(listener.Endpoint)));

        var ports = new HashSet<int>();
        for (var i = 0; i < Count; i++)
        {
            var accepted = await _sink.NextAsync();
            Assert.True(ports.Add(((IPEndPoint)accepted.RemoteEndPoint!).Port));
        }

        Assert.Equal(ports.Order(), clients.Select(static client => ((IPEndPoint)client.LocalEndPoint!).Port).Order());
        Assert.Equal(Count, _sink.AcceptedCount);
        Array.ForEach(clients, static client => client.Dispose());
    }

    [Fact]
    public async Task Connections_that_came_before_the_start_are_accepted_after_it()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        Assert.Equal(0, _sink.AcceptedCount);

        listener.Start(_sink, TimeProvider.System);

        var accepted = await _sink.NextAsync();
        Assert.Equal(client.LocalEndPoint, accepted.RemoteEndPoint);
    }

    [Fact]
    public async Task Accepts_that_finish_at_once_are_looped_not_recursed()
    {
        const int Count = 2_000;
        var calls = 0;
        var deepest = 0;
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: socket =>
        {
            if (++calls > Count)
            {
                return socket.AcceptAsync(CancellationToken.None);
            }

            deepest = Math.Max(deepest, new StackTrace().FrameCount);
            return ValueTask.FromResult(new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));
        });
        var shallowest = int.MaxValue;
        _sink.Accepting = socket =>
        {
            shallowest = Math.Min(shallowest, new StackTrace().FrameCount);
            socket.Dispose();
        };
        listener.Start(_sink, TimeProvider.System);

        for (var i = 0; i < Count; i++)
        {
            await _sink.NextAsync();
        }

        Assert.InRange(deepest, 1, shallowest + 10);
    }

    [Fact]
    public async Task The_loop_does_not_carry_the_starters_execution_context()
    {
        var local = new AsyncLocal<string?> { Value = "starter" };
        var seen = new List<string?>();
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        _sink.Accepting = _ => seen.Add(local.Value);
        listener.Start(_sink, TimeProvider.System);

        for (var i = 0; i < 3; i++)
        {
            using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
            await _sink.NextAsync();
        }

        Assert.Equal([null, null, null], seen);
    }

    [Fact]
    public async Task A_wait_for_descriptors_does_not_carry_the_starters_execution_context_either()
    {
        var local = new AsyncLocal<string?> { Value = "starter" };
        var seen = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0", accept: new ScriptedAccept(SocketError.TooManyOpenSockets).Accept);
        _sink.Accepting = _ => seen.TrySetResult(local.Value);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);

        listener.Start(_sink, TimeProvider.System);

        Assert.Null(await seen.Task.WaitAsync(TcpTest.Guard, Cancellation));
        Assert.Equal("starter", local.Value);
        Assert.False(ExecutionContext.IsFlowSuppressed());
    }

    [Fact]
    public async Task No_connection_is_delivered_after_close_has_returned_and_every_other_one_is_closed()
    {
        for (var round = 0; round < 20; round++)
        {
            using var sink = new RecordingSink();
            var closed = 0;
            var late = 0;
            sink.Accepting = _ => Interlocked.Add(ref late, Volatile.Read(ref closed));
            using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
            listener.Start(sink, TimeProvider.System);
            var dials = Enumerable.Range(0, 50).Select(_ => TcpTest.DialAsync(listener.Endpoint)).ToArray();
            await sink.NextAsync();

            listener.Dispose();
            Volatile.Write(ref closed, 1);

            var delivered = sink.AcceptedCount;
            var results = await Task.WhenAll(dials);
            Assert.Equal(0, Volatile.Read(ref late));
            Assert.Equal(delivered, sink.AcceptedCount);
            Assert.Equal(0, sink.ClosedCount);

            // Those that were delivered stay open until the sink lets go of them; all others have been let go of already.
            var clients = results.Select(static result => result.Socket()).OfType<Socket>().ToList();
            var ends = clients.ConvertAll(TcpTest.EndsInOrderAsync);
            while (ends.Count > delivered)
            {
                ends.Remove(await Task.WhenAny(ends).WaitAsync(TcpTest.Guard, Cancellation));
            }

            Assert.All(ends, static end => Assert.False(end.IsCompleted));
            sink.Dispose();
            await Task.WhenAll(ends);
            clients.ForEach(static client => client.Dispose());
        }
    }

    [Fact]
    public async Task Close_waits_for_a_delivery_that_has_begun()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        var entered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var leave = new ManualResetEventSlim();
        _sink.Accepting = _ =>
        {
            entered.SetResult();
            Assert.True(leave.Wait(TcpTest.Guard));
        };
        listener.Start(_sink, TimeProvider.System);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        await entered.Task.WaitAsync(TcpTest.Guard, Cancellation);

        var closer = new Thread(listener.Dispose) { IsBackground = true };
        closer.Start();
        Assert.False(closer.Join(0));
        Assert.Equal(0, _sink.AcceptedCount);
        leave.Set();

        Assert.True(closer.Join(TcpTest.Guard));
        Assert.Equal(1, _sink.AcceptedCount);
    }

    [Fact]
    public async Task Close_may_be_called_from_within_a_delivery()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        _sink.Accepting = _ => listener.Dispose();
        listener.Start(_sink, TimeProvider.System);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);

        await _sink.NextAsync();

        using var again = TcpTest.Listen(listener.Endpoint);
        Assert.Equal(0, _sink.ClosedCount);
    }

    [Fact]
    public async Task Close_by_many_threads_is_one_close_and_the_address_is_free_after_each()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        listener.Start(_sink, TimeProvider.System);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        await _sink.NextAsync();

        await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => Task.Run(() =>
        {
            listener.Dispose();
            var rebound = TcpBinder.Bind(TcpTest.ToBind(listener.Endpoint), new TcpSettings { ShareAddress = true }, upgrade: null);
            Assert.True(rebound.Listener is not null, rebound.Error.Sentence);
            rebound.Listener.Dispose();
        })));

        Assert.Equal(0, _sink.ClosedCount);
    }

    [Fact]
    public async Task A_connection_handed_on_outlives_its_listener()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        listener.Start(_sink, TimeProvider.System);
        using var client = await TcpTest.ConnectedAsync(listener.Endpoint);
        var accepted = await _sink.NextAsync();

        listener.Dispose();

        accepted.Send([42]);
        var buffer = new byte[1];
        Assert.Equal(1, await client.ReceiveAsync(buffer, Cancellation).AsTask().WaitAsync(TcpTest.Guard, Cancellation));
        Assert.Equal(42, buffer[0]);
    }

    [Fact]
    public void Close_before_start_and_start_after_close_do_no_harm()
    {
        var clock = new ManualTimeProvider();
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        listener.Dispose();
        listener.Start(_sink, clock);
        Assert.Equal(0, _sink.ClosedCount);
        Assert.Equal(0, clock.ArmedTimers);
        using var again = TcpTest.Listen(listener.Endpoint);
    }

    [Fact]
    public void A_listener_starts_once()
    {
        using var listener = TcpTest.Listen("tcp://127.0.0.1:0");
        listener.Start(_sink, TimeProvider.System);
        Assert.Throws<InvalidOperationException>(() => listener.Start(_sink, TimeProvider.System));
    }

    public void Dispose() => _sink.Dispose();
}
