using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A handler may end whatever it likes, the context it runs in included, without a deadlock and without losing its
/// answer.</summary>
public sealed class DisposeInHandlerTests
{
    public enum Ending
    {
        StreamDispose,
        StreamDisposeAsync,
        ContextDispose,
        ContextDisposeAsync,
        ContextShutdownAsync,
        PeerDisconnect,
        Unbind,
    }

    public static TheoryData<Ending> Endings => [.. Enum.GetValues<Ending>()];

    [Theory]
    [MemberData(nameof(Endings))]
    public async Task OnReceived_may_end_anything_and_its_answer_arrives(Ending ending)
    {
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket? socket = null;
        string? endpoint = null;
        var returned = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler
        {
            Received = async (peer, _) =>
            {
                Assert.True(peer.TrySend([1, 2, 3]));
                await EndAsync(ending, fixture.Context, socket!, endpoint!, peer);
                returned.SetResult();
            },
        };
        socket = fixture.Bind(handler, out endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(9);
        Assert.Equal(Wire.Frame([1, 2, 3]), await peer.ReadToEndAsync());
        peer.Dispose();

        await returned.Task.Guarded();
        (_, DisconnectReason reason) = await handler.NextDisconnectedAsync();
        Assert.Equal(ending is Ending.ContextDispose or Ending.ContextDisposeAsync or Ending.ContextShutdownAsync
            ? DisconnectReason.ContextTerminated : DisconnectReason.Local, reason);
    }

    [Theory]
    [MemberData(nameof(Endings))]
    public async Task OnConnected_may_end_anything(Ending ending)
    {
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Context.CreateStream();
        string? endpoint = null;
        Task ended = Task.CompletedTask;
        var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler
        {
            Connected = peer =>
            {
                // Begun here; whoever needs this shard to end goes on after the return.
                ended = EndAsync(ending, fixture.Context, socket, Volatile.Read(ref endpoint)!, peer).AsTask();
                go.SetResult();
            },
        };
        Volatile.Write(ref endpoint, socket.Bind("tcp://127.0.0.1:0", handler));
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        Assert.Empty(await peer.ReadToEndAsync());
        peer.Dispose();
        await go.Task.Guarded();
        await ended.Guarded();
        await handler.NextDisconnectedAsync();
    }

    [Fact]
    public async Task OnDisconnected_may_dispose_the_context()
    {
        await using var fixture = new StreamFixture(shards: 1);
        var handler = new TestHandler { Disconnected = (_, _) => fixture.Context.Dispose() };
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        peer.EndSending();
        Assert.Empty(await peer.ReadToEndAsync());
        await fixture.Context.DisposeAsync().Guarded();
    }

    private static async ValueTask EndAsync(Ending ending, ZlinkContext context, StreamSocket socket, string endpoint, StreamPeer peer)
    {
        switch (ending)
        {
            case Ending.StreamDispose:
                socket.Dispose();
                break;
            case Ending.StreamDisposeAsync:
                await socket.DisposeAsync();
                break;
            case Ending.ContextDispose:
                context.Dispose();
                break;
            case Ending.ContextDisposeAsync:
                await context.DisposeAsync();
                break;
            case Ending.ContextShutdownAsync:
                Assert.True((await context.ShutdownAsync(Guard.Limit, Guard.Token)).Drained);
                break;
            case Ending.PeerDisconnect:
                peer.Disconnect();
                break;
            default:
                socket.Unbind(endpoint);
                break;
        }
    }
}
