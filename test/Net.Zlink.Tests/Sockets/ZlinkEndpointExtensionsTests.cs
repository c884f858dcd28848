using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

public sealed class ZlinkEndpointExtensionsTests : IAsyncLifetime
{
    private readonly ContextFixture _fixture = new();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _fixture.DisposeAsync();

    [Fact]
    public async Task BoundTo_and_ConnectedTo_return_the_socket_itself()
    {
        PairSocket one = _fixture.Context.CreatePair();
        Assert.Same(one, one.BoundTo("tcp://127.0.0.1:*"));
        PairSocket two = _fixture.Context.CreatePair().ConnectedTo(one.LastEndpoint);
        await two.SendAsync("hello", Guard.Token).Guarded();
        using Message message = await one.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("hello", message.GetString());
    }

    [Fact]
    public void BoundTo_disposes_a_socket_that_cannot_listen()
    {
        RouterSocket socket = _fixture.Context.CreateRouter();
        Assert.Throws<ZlinkException>(() => socket.BoundTo("nonsense"));
        Assert.Throws<ObjectDisposedException>(() => socket.Bind("tcp://127.0.0.1:*"));
    }

    [Fact]
    public void ConnectedTo_disposes_a_socket_whose_endpoint_is_none()
    {
        DealerSocket socket = _fixture.Context.CreateDealer();
        Assert.Throws<ZlinkException>(() => socket.ConnectedTo("nonsense"));
        Assert.Throws<ObjectDisposedException>(() => socket.Connect("tcp://127.0.0.1:5555"));
    }

    [Fact]
    public void Create_makes_a_message_of_one_part_without_a_sender()
    {
        using var text = Message.Create("EUR");
        using var bytes = Message.Create([1, 2]);
        using var empty = Message.Create("");
        Assert.Equal(("EUR", 1, ""), (text.GetString(), text.PartCount, text.RemoteAddress));
        Assert.Equal([1, 2], bytes.Span.ToArray());
        Assert.Equal((1, 0), (empty.PartCount, empty.Span.Length));
    }
}
