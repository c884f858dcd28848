using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Transports;

/// <summary>A wire whose library does what the test says: mostly elsewhere, where a real one seldom is.</summary>
public sealed class IoStreamWireTests : IAsyncLifetime
{
    private readonly Events _events = new();
    private Socket _peer = null!;
    private ScriptedWire _wire = null!;

    public async ValueTask InitializeAsync()
    {
        (_peer, Socket ours) = await ConnectedPairAsync();
        _wire = new ScriptedWire(ours);
        _wire.Attach(_events);
    }

    public ValueTask DisposeAsync()
    {
        _wire.Dispose();
        _peer.Dispose();
        return ValueTask.CompletedTask;
    }

    [Fact]
    public async Task A_wait_ends_when_a_library_that_is_elsewhere_is_through()
    {
        var reading = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        _wire.Script.Enqueue(reading.Task);
        _wire.Script.Enqueue(Task.FromResult(5));
        Assert.True(_wire.WaitForInput());
        Assert.False(_events.Input.Task.IsCompleted);
        reading.SetResult(0);
        await _events.Input.Task.Guarded();
        Assert.Equal(WireStatus.Done, _wire.FinishWait());
        Assert.Equal(5, _wire.Available);
    }

    [Fact]
    public async Task A_farewell_waits_for_a_read_that_is_elsewhere()
    {
        var reading = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        _wire.Script.Enqueue(reading.Task);
        Assert.True(_wire.WaitForInput());
        Assert.Equal(WireStatus.WouldWait, _wire.EndSending(WireEnd.Finished));
        Assert.Equal(0, _wire.Farewells);
        reading.SetResult(0);
        await _events.Ended.Task.Guarded();
        Assert.Equal(1, _wire.Farewells);
    }

    [Fact]
    public async Task A_farewell_waits_for_a_write()
    {
        var writing = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _wire.Writing = writing.Task;
        Assert.True(_wire.BeginSend(new byte[1], endsMidFrame: false));
        Assert.Equal(WireStatus.WouldWait, _wire.EndSending(WireEnd.Finished));
        Assert.Equal(0, _wire.Farewells);
        writing.SetResult();
        await _events.Ended.Task.Guarded();
        Assert.Equal((1, WireStatus.Done), (_wire.Farewells, _wire.FinishSend()));
    }

    [Fact]
    public async Task A_farewell_does_not_wait_for_a_read_that_rests_and_a_wire_that_ends_lets_it_fail()
    {
        _wire.Script.Enqueue(_wire.Beneath.ReadAsync(new byte[1], CancellationToken.None).AsTask());
        Assert.True(_wire.WaitForInput());
        Assert.Equal(WireStatus.Done, _wire.EndSending(WireEnd.Finished));
        Assert.Equal((1, false), (_wire.Farewells, _wire.IsFreed));
        _wire.Dispose();
        await Guard.UntilAsync(() => _wire.IsFreed, "what the wire has is released");
    }

    [Fact]
    public async Task A_wire_that_ended_is_freed_once_its_library_is_through()
    {
        var reading = new TaskCompletionSource<int>();
        _wire.Script.Enqueue(reading.Task);
        Assert.True(_wire.WaitForInput());
        _wire.Dispose();
        Assert.False(_wire.IsFreed);
        reading.SetException(new IOException("gone"));
        await Guard.UntilAsync(() => _wire.IsFreed, "what the wire has is released");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_read_error_stays_the_reason_of_a_connections_end_after_a_later_write_error(bool readsFirst)
    {
        _wire.Writing = Task.FromException(new IOException("no such peer"));
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

    private sealed class Events : IWireEvents
    {
        public TaskCompletionSource Input { get; } = new();

        public TaskCompletionSource Ended { get; } = new();

        public void OnInput() => Input.SetResult();

        public void OnSent()
        {
        }

        public void OnEnded() => Ended.SetResult();
    }

    private sealed class ScriptedWire : IoStreamWire
    {
        public ScriptedWire(Socket socket)
            : base(socket, Engine.EngineFixture.Tcp, BufferPool.Shared, new WireStream(Prepared(socket), BufferPool.Shared)) =>
            Stream.EndHandshake();

        public Queue<Task<int>> Script { get; } = [];

        public Task Writing { get; set; } = Task.CompletedTask;

        public int Farewells { get; private set; }

        public bool IsFreed { get; private set; }

        public WireStream Beneath => Stream;

        protected override ValueTask<int> ReadAsync(Memory<byte> into) =>
            Script.TryDequeue(out Task<int>? next) ? new ValueTask<int>(next) : Stream.ReadAsync(into, CancellationToken.None);

        protected override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame) => new(Writing);

        protected override Task SayFarewellAsync(WireEnd end) => RunAtRestAsync(() =>
        {
            Farewells++;
            return Task.CompletedTask;
        });

        protected override void Free() => IsFreed = true;

        private static Socket Prepared(Socket socket)
        {
            socket.Blocking = true; // As the stream requires.
            return socket;
        }
    }
}
