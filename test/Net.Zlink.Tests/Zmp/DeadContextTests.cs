using System.ComponentModel;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>An application awaits under a SynchronizationContext or scheduler that is gone by the time the wait ends, as that of a window
/// that has been closed.</summary>
public sealed class DeadContextTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:0", false)]
    [InlineData("tcp://127.0.0.1:0", true)]
    [InlineData("inproc://dead", false)]
    [InlineData("inproc://dead", true)]
    public async Task A_receive_whose_context_is_gone_goes_on_in_the_pool_and_disturbs_nobody(string endpoint, bool scheduler)
    {
        await using var fixture = new ContextFixture(shards: 1);
        PairSocket receiver = fixture.Context.CreatePair();
        PairSocket sender = fixture.Context.CreatePair();
        sender.Connect(receiver.Bind(endpoint));
        var first = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        Start(scheduler, () => Tell(receiver.ReceiveAsync(Guard.Token), static message => Encoding.ASCII.GetString(message.Span), first));
        Task<Message> second = receiver.ReceiveAsync(Guard.Token).AsTask();
        for (int i = 0; i < 6; i++)
        {
            await sender.SendAsync(Encoding.ASCII.GetBytes($"message {i}"), Guard.Token);
        }

        Assert.Equal("message 0", await first.Task.Guarded());
        using (Message message = await second.Guarded())
        {
            Assert.Equal("message 1"u8, message.Span);
        }

        // What was read together with the first is still there when more has been read.
        await sender.SendAsync("later"u8.ToArray(), Guard.Token);
        string[] expected = ["message 2", "message 3", "message 4", "message 5", "later"];
        foreach (string one in expected)
        {
            using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(one, Encoding.ASCII.GetString(message.Span));
        }

        await receiver.SendAsync("back"u8.ToArray(), Guard.Token);
        using Message back = await sender.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("back"u8, back.Span);
    }

    [Fact]
    public async Task A_send_whose_context_is_gone_is_sent_and_so_are_those_behind_it()
    {
        const int Size = 50_000;
        await using var fixture = new ContextFixture(shards: 1);
        PairSocket receiver = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 5 });
        PairSocket sender = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 5, SendByteLimit = 2 * Size });
        sender.Connect(receiver.Bind("tcp://127.0.0.1:0"));
        int sent = 0;
        Task<bool> waits = Fill();
        Assert.True(await waits.Guarded());
        var first = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        Start(scheduler: false, () => TellSent(sender.SendAsync(new byte[Size], Guard.Token), first));
        Task second = sender.SendAsync(new byte[Size], Guard.Token).AsTask();
        for (int i = 0; i < sent + 2; i++)
        {
            using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(Size, message.Span.Length);
        }

        Assert.True(await first.Task.Guarded());
        await second.Guarded();

        async Task<bool> Fill()
        {
            // Full is what refuses although everything the shards could do has been done.
            for (int refusals = 0; refusals < 3;)
            {
                if (sender.TrySend(new byte[Size]))
                {
                    sent++;
                    refusals = 0;
                }
                else
                {
                    refusals++;
                    await fixture.SettleAsync();
                }
            }

            return sent > 0;
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Disposing_ends_every_wait_also_behind_one_whose_context_is_gone(bool whole)
    {
        await using var fixture = new ContextFixture(shards: 1);
        RouterSocket socket = fixture.Context.CreateRouter();
        RouterSocket other = fixture.Context.CreateRouter();
        socket.Bind("tcp://127.0.0.1:0");
        other.Bind("tcp://127.0.0.1:0");
        var first = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        Start(scheduler: false, () => Tell(socket.ReceiveAsync(Guard.Token), static _ => "a message", first));
        Task<Message> second = socket.ReceiveAsync(Guard.Token).AsTask();
        Task<Message> third = other.ReceiveAsync(Guard.Token).AsTask();
        if (whole)
        {
            fixture.Context.Dispose();
        }
        else
        {
            socket.Dispose();
            other.Dispose();
        }

        Task[] waits = [first.Task, second, third];
        foreach (Task wait in waits)
        {
            Exception? ended = await Record.ExceptionAsync(() => wait.Guarded());
            if (whole)
            {
                Assert.Equal(ZlinkError.ContextTerminated, Assert.IsType<ZlinkException>(ended).Error);
            }
            else
            {
                Assert.IsType<ObjectDisposedException>(ended);
            }
        }
    }

    [Theory]
    [InlineData(false, SocketEventTypes.All)]
    [InlineData(false, SocketEventTypes.MonitorStopped)]
    [InlineData(false, SocketEventTypes.AcceptFailed)] // Nothing comes for it: the end of the monitor itself meets the reader.
    [InlineData(true, SocketEventTypes.All)]
    [InlineData(true, SocketEventTypes.MonitorStopped)]
    [InlineData(true, SocketEventTypes.AcceptFailed)]
    public async Task A_reader_of_events_whose_context_is_gone_keeps_no_socket_from_being_closed(bool whole, SocketEventTypes mask)
    {
        await using var fixture = new ContextFixture(shards: 1);
        RouterSocket socket = fixture.Context.CreateRouter();
        RouterSocket other = fixture.Context.CreateRouter();
        string endpoint = socket.Bind("tcp://127.0.0.1:0");
        string otherEndpoint = other.Bind("tcp://127.0.0.1:0");
        IAsyncEnumerator<SocketEvent> events = socket.MonitorAsync(mask, Guard.Token).GetAsyncEnumerator(Guard.Token);
        using EventReader second = socket.ReadEvents(SocketEventTypes.MonitorStopped);
        Start(scheduler: false, () => Tell(events.MoveNextAsync(), static any => any, new TaskCompletionSource<bool>()));
        if (whole)
        {
            ShutdownReport report = await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();
            Assert.True(report.Drained);
        }
        else
        {
            socket.Dispose();
            other.Dispose();
        }

        // Nothing listens any more, and who watches the same socket is told so.
        Assert.Equal(SocketEventTypes.MonitorStopped, (await second.ReadAsync(Guard.Token).Guarded()).Type);
        await using var later = new ContextFixture(shards: 1);
        later.Context.CreateRouter().Bind(endpoint);
        later.Context.CreateRouter().Bind(otherEndpoint);

        // Whoever reads later comes to the end of the events.
        while (await events.MoveNextAsync().AsTask().Guarded())
        {
        }
    }

    [Fact]
    public async Task A_streams_receive_whose_context_is_gone_mixes_no_peers_bytes_with_anothers()
    {
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Bind(out string endpoint);
        using RawPeer peer = await fixture.ConnectAsync(endpoint);
        using (StreamMessage message = await socket.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal(StreamMessageKind.Connected, message.Kind);
        }

        var first = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        Start(scheduler: false, () => Tell(socket.ReceiveAsync(Guard.Token), static message => Encoding.ASCII.GetString(message.Span),
            first));
        await peer.SendAsync(Frames("message 0", "message 1", "message 2"));
        Assert.Equal("message 0", await first.Task.Guarded());
        using RawPeer another = await fixture.ConnectAsync(endpoint);
        await another.SendAsync(Frames("secret 0", "secret 1", "secret 2"));
        var read = new Dictionary<uint, List<string>>();
        for (int i = 0; i < 6; i++)
        {
            using StreamMessage message = await socket.ReceiveAsync(Guard.Token).Guarded();
            if (!read.TryGetValue(message.PeerId, out List<string>? ofPeer))
            {
                read.Add(message.PeerId, ofPeer = []);
            }

            ofPeer.Add(Encoding.ASCII.GetString(message.Span));
        }

        Assert.Equal("message 1,message 2|,secret 0,secret 1,secret 2",
            string.Join('|', read.Values.OrderBy(static ofPeer => ofPeer.Count).Select(static ofPeer => string.Join(',', ofPeer))));
    }

    private static byte[] Frames(params string[] bodies) =>
        [.. bodies.SelectMany(static body => (byte[])[0, 0, 0, (byte)body.Length, .. Encoding.ASCII.GetBytes(body)])];

    /// <summary>Runs something where what it awaits is to go on under what throws when it is asked to.</summary>
    private static void Start(bool scheduler, Action start)
    {
        if (scheduler)
        {
            // Only what a task of that scheduler awaits goes back to it; it runs its first one, and none that comes behind.
            using var once = new OnceScheduler();
            Task first = Task.Factory.StartNew(start, CancellationToken.None, TaskCreationOptions.None, once);
            once.RunFirst();
            Assert.True(first.IsCompletedSuccessfully);
            return;
        }

        var thread = new Thread(() =>
        {
            SynchronizationContext.SetSynchronizationContext(new GoneContext());
            start();
        });
        thread.Start();
        thread.JoinGuarded();
    }

    /// <summary>Awaits as an event handler does: under the context there is. No exception of its own may reach that context.</summary>
    private static async void Tell<T, TTold>(ValueTask<T> wait, Func<T, TTold> read, TaskCompletionSource<TTold> told)
    {
        try
        {
            T result = await wait;
            using (result as IDisposable)
            {
                told.SetResult(read(result));
            }
        }
        catch (Exception exception)
        {
            told.SetException(exception);
        }
    }

    private static async void TellSent(ValueTask wait, TaskCompletionSource<bool> told)
    {
        try
        {
            await wait;
            told.SetResult(true);
        }
        catch (Exception exception)
        {
            told.SetException(exception);
        }
    }

    /// <summary>As the context of a window whose thread has ended.</summary>
    private sealed class GoneContext : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state) => throw new InvalidAsynchronousStateException("the thread is gone");

        public override SynchronizationContext CreateCopy() => this;

        // What an async void tells of its beginning and end is of no interest here.
        public override void OperationStarted()
        {
        }

        public override void OperationCompleted()
        {
        }
    }

    private sealed class OnceScheduler : TaskScheduler, IDisposable
    {
        private Task? _first;
        private bool _gone;

        public void RunFirst() => Assert.True(TryExecuteTask(_first!));

        public void Dispose() => _gone = true;

        protected override void QueueTask(Task task)
        {
            if (_gone || _first is not null)
            {
                throw new InvalidOperationException("the scheduler has been shut down");
            }

            _first = task;
        }

        protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

        protected override IEnumerable<Task> GetScheduledTasks() => [];
    }
}
