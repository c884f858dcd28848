using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests;

/// <summary>What a socket says once it, or its context, has ended: the same from every member.</summary>
public sealed class EndedSocketTests
{
    public static TheoryData<string> Members => [.. Calls.Keys];

    private static Dictionary<string, Action<Ended>> Calls { get; } = new(StringComparer.Ordinal)
    {
        ["Bind"] = static ended => ended.Dealer.Bind("tcp://127.0.0.1:0"),
        ["Bind inproc"] = static ended => ended.Dealer.Bind("inproc://late"),
        ["Connect"] = static ended => ended.Dealer.Connect("tcp://127.0.0.1:1"),
        ["Unbind"] = static ended => ended.Dealer.Unbind("tcp://127.0.0.1:1"),
        ["Disconnect"] = static ended => ended.Dealer.Disconnect("tcp://127.0.0.1:1"),
        ["Send"] = static ended => ended.Dealer.Send("x"u8),
        ["TrySend"] = static ended => ended.Dealer.TrySend("x"u8),
        ["Receive"] = static ended => ended.Dealer.Receive(),
        ["TryReceive"] = static ended => ended.Dealer.TryReceive(out _),
        ["Subscribe"] = static ended => ended.Sub.Subscribe("a"),
        ["Unsubscribe"] = static ended => ended.Sub.Unsubscribe("a"),
        ["Subscribe of XPUB"] = static ended => ended.XPub.Subscribe("a"u8),
        ["Bind of STREAM"] = static ended => ended.Stream.Bind("tcp://127.0.0.1:0"),
        ["ConnectAsync of STREAM"] = static ended =>
            ended.Stream.ConnectAsync("tcp://127.0.0.1:1", Guard.Token).AsTask().GetAwaiter().GetResult(),
        ["Unbind of STREAM"] = static ended => ended.Stream.Unbind("tcp://127.0.0.1:1"),
        ["TryReceive of the native view"] = static ended => new NativeStreamView(ended.Stream).TryReceive(out _),
        ["Receive of STREAM"] = static ended => ended.Stream.Receive(),
    };

    [Theory]
    [MemberData(nameof(Members))]
    public async Task After_the_shutdown_of_its_context_every_member_says_ContextTerminated(string member)
    {
        await using var ended = new Ended();
        await ended.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();

        Assert.Equal(ZlinkError.ContextTerminated, Assert.Throws<ZlinkException>(() => Calls[member](ended)).Error);
    }

    [Theory]
    [MemberData(nameof(Members))]
    public async Task A_disposed_socket_says_so_from_every_member_also_after_the_shutdown_of_its_context(string member)
    {
        await using var ended = new Ended();
        ended.DisposeSockets();
        AssertNamed(() => Calls[member](ended));

        await ended.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();

        AssertNamed(() => Calls[member](ended));
    }

    [Fact]
    public async Task A_disposed_socket_that_has_nothing_to_deliver_frees_its_place_at_once()
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { MaxSockets = 1 });
        for (int i = 0; i < 1_000; i++)
        {
            context.CreateDealer().Dispose();
            context.CreateStream().Dispose();
        }

        Assert.Equal(0, context.GetStatistics().Sockets);
    }

    [Fact]
    public async Task A_send_that_waits_is_told_which_socket_was_disposed()
    {
        await using var context = new ZlinkContext();
        DealerSocket dealer = context.CreateDealer();
        Task send = dealer.SendAsync("x"u8.ToArray(), Guard.Token).AsTask();
        Assert.False(send.IsCompleted);

        dealer.Dispose();

        var end = await Assert.ThrowsAsync<ObjectDisposedException>(() => send.Guarded());
        Assert.Equal(typeof(DealerSocket).FullName, end.ObjectName);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [SlowInlineData("ipc://*")]
    public async Task A_bind_beside_a_dispose_names_its_endpoint_or_throws(string endpoint)
    {
        await using var context = new ZlinkContext();
        for (int i = 0; i < 200; i++)
        {
            DealerSocket socket = context.CreateDealer();
            using var begun = new Barrier(2);
            Task disposing = Task.Factory.StartNew(
                () =>
                {
                    begun.SignalAndWait(Guard.Token);
                    socket.Dispose();
                },
                Guard.Token,
                TaskCreationOptions.LongRunning,
                TaskScheduler.Default);
            begun.SignalAndWait(Guard.Token);
            try
            {
                Assert.NotEqual(endpoint, socket.Bind(endpoint), StringComparer.Ordinal);
            }
            catch (ObjectDisposedException)
            {
                // It came too late.
            }

            await disposing.Guarded();
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_endpoint_that_two_threads_end_at_once_is_ended_once(bool byDispose)
    {
        await using var context = new ZlinkContext();
        for (int i = 0; i < 300; i++)
        {
            using DealerSocket socket = context.CreateDealer();
            using EventReader monitor = socket.ReadEvents(SocketEventTypes.Closed | SocketEventTypes.MonitorStopped);
            string endpoint = socket.Bind("tcp://127.0.0.1:0");
            using var begun = new Barrier(2);
            int ended = 0;
            void End(bool disposes)
            {
                begun.SignalAndWait(Guard.Token);
                if (disposes)
                {
                    socket.Dispose();
                    return;
                }

                try
                {
                    socket.Unbind(endpoint);
                    Interlocked.Increment(ref ended);
                }
                catch (Exception e) when (e is ObjectDisposedException or ZlinkException { Error: ZlinkError.NotFound })
                {
                    // The other thread was first.
                }
            }

            Task other = Task.Factory.StartNew(() => End(byDispose), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
            End(disposes: false);
            await other.Guarded();
            socket.Dispose();

            Assert.InRange(ended, 0, 1);
            SocketEventTypes first = (await monitor.ReadAsync(Guard.Token).Guarded()).Type;
            if (!byDispose || first == SocketEventTypes.Closed)
            {
                // Of a socket that ends at the same time the monitor's end may come first.
                Assert.Equal(SocketEventTypes.Closed, first);
                first = (await monitor.ReadAsync(Guard.Token).Guarded()).Type;
            }

            Assert.Equal(SocketEventTypes.MonitorStopped, first);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_endpoint_that_is_unbound_while_it_is_being_bound_listens_before_it_closes(bool isStream)
    {
        await using var context = new ZlinkContext();
        for (int i = 0; i < 300; i++)
        {
            DealerSocket dealer = context.CreateDealer();
            StreamSocket stream = context.CreateStream();
            const SocketEventTypes Both = SocketEventTypes.Closed | SocketEventTypes.Listening;
            using EventReader monitor = isStream ? stream.ReadEvents(Both) : dealer.ReadEvents(Both);
            string endpoint = $"ipc://{Path.Combine(Path.GetTempPath(), $"zl-{Guid.NewGuid():N}")}";
            Action bind = isStream ? () => stream.Bind(endpoint) : () => dealer.Bind(endpoint);
            Action unbind = isStream ? () => stream.Unbind(endpoint) : () => dealer.Unbind(endpoint);
            Task binding = Task.Factory.StartNew(bind, Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
            while (!TryUnbind(unbind))
            {
                Guard.Token.ThrowIfCancellationRequested();
            }

            await binding.Guarded();
            Assert.Equal(SocketEventTypes.Listening, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
            Assert.Equal(SocketEventTypes.Closed, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
            dealer.Dispose();
            stream.Dispose();
        }
    }

    private static void AssertNamed(Action call)
    {
        var end = Assert.ThrowsAny<ObjectDisposedException>(call);
        Assert.Matches(@"^Net\.Zlink\.(Dealer|Sub|XPub|Stream)Socket$", end.ObjectName);
        Assert.Equal(new ObjectDisposedException(end.ObjectName).Message, end.Message);
    }

    private static bool TryUnbind(Action unbind)
    {
        try
        {
            unbind();
            return true;
        }
        catch (ZlinkException e) when (e.Error == ZlinkError.NotFound)
        {
            return false;
        }
    }

    /// <summary>A context and one socket of each kind that the rows need.</summary>
    private sealed class Ended : IAsyncDisposable
    {
        public Ended()
        {
            Dealer = Context.CreateDealer();
            Sub = Context.CreateSub();
            XPub = Context.CreateXPub(new XPubOptions { Manual = true });
            Stream = Context.CreateStream();
        }

        public ZlinkContext Context { get; } = new();

        public DealerSocket Dealer { get; }

        public SubSocket Sub { get; }

        public XPubSocket XPub { get; }

        public StreamSocket Stream { get; }

        public void DisposeSockets()
        {
            Dealer.Dispose();
            Sub.Dispose();
            XPub.Dispose();
            Stream.Dispose();
        }

        public ValueTask DisposeAsync() => Context.DisposeAsync();
    }
}
