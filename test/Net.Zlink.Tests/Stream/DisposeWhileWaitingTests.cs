using System.Buffers;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Whoever waits is released when what they wait for can no longer come.</summary>
public sealed class DisposeWhileWaitingTests
{
    private const int SmallKernelBuffer = 16 * 1024;

    public enum Ending
    {
        DisposeSocket,
        DisposeContext,
        Disconnect,
        PeerResets,
    }

    public static TheoryData<Ending> Endings => [.. Enum.GetValues<Ending>()];

    [Theory]
    [MemberData(nameof(Endings))]
    public async Task Waiting_sends_end_with_HostUnreachable_and_leave_their_buffers_to_the_caller(Ending ending)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { SendHighWaterMark = 3, SendBufferSize = SmallKernelBuffer });
        RawPeer peer = await fixture.ConnectAsync(endpoint, SmallKernelBuffer);
        uint id = await socket.NextConnectedAsync();
        socket.Fill(id);

        IMemoryOwner<byte> owner = fixture.Pool.Rent(30_000);
        Task copied = socket.To(id).SendAsync(new byte[100], Guard.Token).AsTask();
        Task donated = socket.To(id).SendAsync(owner, 30_000, Guard.Token).AsTask();
        Task blockedOnPool = Task.Run(() => socket.To(id).Send([1]), Guard.Token);
        Task blockedOnThread = Task.Factory.StartNew(
            () => socket.To(id).Send([1]), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.False(copied.IsCompleted || donated.IsCompleted || blockedOnPool.IsCompleted || blockedOnThread.IsCompleted);

        Task disposal = Task.CompletedTask;
        switch (ending)
        {
            case Ending.DisposeSocket:
                socket.Dispose();
                break;
            case Ending.DisposeContext:
                disposal = fixture.Context.DisposeAsync().AsTask();
                break;
            case Ending.Disconnect:
                Assert.True(socket.Disconnect(id));
                break;
            default:
                peer.Reset();
                break;
        }

        foreach (Task waiting in (Task[])[copied, donated, blockedOnPool, blockedOnThread])
        {
            ZlinkException thrown = await Assert.ThrowsAsync<ZlinkException>(() => waiting.Guarded());
            Assert.Equal(ZlinkError.HostUnreachable, thrown.Error);
        }

        owner.Memory.Span[0] = 1;
        owner.Dispose();
        peer.Reset();
        await disposal.Guarded();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Waiting_receives_end_when_socket_or_context_is_disposed(bool context)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out _);
        Task[] waiting =
        [
            socket.ReceiveAsync(Guard.Token).AsTask(),
            socket.ReceiveManyAsync(new StreamMessage[3], Guard.Token).AsTask(),
            Task.Run(() => socket.Receive(), Guard.Token),
            Task.Factory.StartNew(() => socket.Receive(Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default),
            new NativeStreamView(socket).ReceiveAsync(Guard.Token).AsTask(),
        ];
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.DoesNotContain(waiting, static task => task.IsCompleted);

        if (context)
        {
            await fixture.Context.DisposeAsync().Guarded();
        }
        else
        {
            socket.Dispose();
        }

        foreach (Task task in waiting)
        {
            Exception thrown = await Assert.ThrowsAnyAsync<Exception>(() => task.Guarded());
            AssertClosed(context, thrown);
        }

        AssertClosed(context, Record.Exception(() => socket.TryReceive(out _)));
        AssertClosed(context, Record.Exception(() => socket.Receive()));
        AssertClosed(context, await Record.ExceptionAsync(() => socket.ReceiveAsync(Guard.Token).AsTask()));
        AssertClosed(context, Record.Exception(() => socket.ReceiveMany(new StreamMessage[2])));
        AssertClosed(context, await Record.ExceptionAsync(() => socket.ReceiveManyAsync(new StreamMessage[2], Guard.Token).AsTask()));
        await foreach (StreamMessage message in socket.ReceiveAllAsync(Guard.Token))
        {
            Assert.Fail($"{message.Kind} came out of a closed socket");
        }
    }

    [Fact]
    public async Task A_disposed_socket_refuses_new_endpoints_and_sends()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        socket.Dispose();
        socket.Dispose();
        await socket.DisposeAsync();

        Assert.Throws<ObjectDisposedException>(() => socket.Bind("tcp://127.0.0.1:0"));
        Assert.Throws<ObjectDisposedException>(() => socket.Bind("tcp://127.0.0.1:0", TestHandler.Echo()));
        Assert.Throws<ObjectDisposedException>(() => socket.BindPipe("tcp://127.0.0.1:0", static _ => Task.CompletedTask));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => socket.ConnectAsync(endpoint, Guard.Token).AsTask());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => socket.ConnectPipeAsync(endpoint, Guard.Token).AsTask());
        await fixture.UntilAsync(() => !socket.To(id).TrySend([1]));
        Assert.False(socket.To(id).TrySend([1]).Tell(out SendFailure error));
        Assert.Equal(SendFailure.NoPeer, error);
        Assert.False(socket.Disconnect(id));
    }

    [Fact]
    public async Task A_disposed_context_makes_no_sockets_and_may_be_disposed_again()
    {
        await using var fixture = new StreamFixture();
        await fixture.Context.DisposeAsync().Guarded();
        fixture.Context.Dispose();
        Assert.Throws<ObjectDisposedException>(() => fixture.Context.CreateStream());
        Assert.True((await fixture.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token)).Drained);
    }

    private static void AssertClosed(bool context, Exception? thrown)
    {
        if (context)
        {
            Assert.Equal(ZlinkError.ContextTerminated, Assert.IsType<ZlinkException>(thrown).Error);
        }
        else
        {
            Assert.IsType<ObjectDisposedException>(thrown);
        }
    }
}
