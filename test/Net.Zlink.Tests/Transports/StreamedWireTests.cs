using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Transports;

/// <summary>What a wire over a library's stream tells of its reads.</summary>
public sealed class StreamedWireTests : IAsyncLifetime
{
    private readonly TlsShutdownGate _reads = new();
    private readonly List<string> _story = [];
    private Socket _peer = null!;
    private ScriptedWire _wire = null!;

    public async ValueTask InitializeAsync()
    {
        (_peer, Socket ours) = await ConnectedPairAsync();
        _wire = new ScriptedWire(ours, _reads, Asked);
    }

    public ValueTask DisposeAsync()
    {
        _wire.Dispose();
        _peer.Dispose();
        return ValueTask.CompletedTask;
    }

    [Fact]
    public void A_read_that_ends_at_once_is_at_work_until_it_returns()
    {
        _wire.Attach(new Events(_story) { IsBusy = false });
        _wire.Script.Enqueue(Task.FromResult(0));
        _wire.Script.Enqueue(Task.FromResult(5));
        Assert.False(_wire.WaitForInput());
        Assert.Equal(["read 1", "read 1 goes on", "errand 1", "read 2", "read 2 goes on", "errand 2"], _story);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_read_that_ends_later_is_at_work_until_then_whether_or_not_another_follows_on_its_thread(bool isShardBusy)
    {
        var events = new Events(_story) { IsBusy = isShardBusy };
        _wire.Attach(events);
        var first = new TaskCompletionSource<int>();
        var second = new TaskCompletionSource<int>();
        _wire.Script.Enqueue(first.Task);
        _wire.Script.Enqueue(second.Task);
        Assert.True(_wire.WaitForInput());
        Assert.Equal(["read 1", "read 1 goes on"], _story);
        first.SetResult(0);
        if (isShardBusy)
        {
            Assert.Equal(["read 1", "read 1 goes on", "errand 1", "read 2", "read 2 goes on"], _story);
            second.SetResult(5);
        }

        await events.Input.Task.Guarded();
        Assert.Equal(["errand 1", .. isShardBusy ? (string[])["read 2", "read 2 goes on", "errand 2", "input"] : ["input"]], _story[2..]);
        second.TrySetResult(5);
        Assert.Equal(WireStatus.Done, _wire.FinishWait());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_read_error_stays_the_reason_of_a_connections_end_after_a_later_write_error(bool readsFirst)
    {
        _wire.Attach(new Events(_story) { IsBusy = false });
        if (readsFirst)
        {
            Fail();
        }

        Assert.False(_wire.BeginSend(new byte[1], endsMidFrame: false));
        Assert.Equal(WireStatus.Failed, _wire.FinishSend());
        Assert.Equal(readsFirst ? "the alert" : "no such peer", _wire.Detail);
        if (!readsFirst)
        {
            Fail();
            Assert.Equal("the alert", _wire.Detail);
        }

        void Fail()
        {
            _wire.Script.Enqueue(Task.FromException<int>(new IOException("the alert")));
            Assert.False(_wire.WaitForInput());
            Assert.Equal(WireStatus.Failed, _wire.FinishWait());
        }
    }

    /// <summary>Somebody has an errand just while a read is made.</summary>
    private void Asked(int read)
    {
        _story.Add($"read {read}");
        _ = _reads.RunAsync(() =>
        {
            _story.Add($"errand {read}");
            return Task.CompletedTask;
        });
        _story.Add($"read {read} goes on");
    }

    private sealed class Events(List<string> story) : IWireEvents
    {
        public TaskCompletionSource Input { get; } = new();

        public bool IsBusy { get; init; }

        public void OnInput()
        {
            story.Add("input");
            Input.SetResult();
        }

        public void OnSent() => throw new NotSupportedException();

        public void OnEnded() => throw new NotSupportedException();
    }

    private sealed class ScriptedWire(Socket socket, TlsShutdownGate reads, Action<int> asked)
        : IoStreamWire(socket, Engine.EngineFixture.Tcp, BufferPool.Shared, reads, writes: null)
    {
        private int _reads;

        public Queue<Task<int>> Script { get; } = [];

        public override WireStatus EndSending(WireEnd end) => throw new NotSupportedException();

        protected override ValueTask<int> ReadAsync(Memory<byte> into)
        {
            asked(++_reads);
            return new ValueTask<int>(Script.Dequeue());
        }

        protected override ValueTask<int> ReadRawAsync(Memory<byte> into) => throw new NotSupportedException();

        protected override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame) => throw new IOException("no such peer");

        protected override WireStatus? Classify(Exception exception) => IoStreamErrors.Classify(exception, Explain);

        protected override void Free()
        {
        }
    }
}
