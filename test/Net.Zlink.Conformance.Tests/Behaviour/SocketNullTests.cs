using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_socket_null. A socket cannot be null here; one that is closed refuses what the native core answers with
/// ENOTSOCK.</summary>
public sealed class SocketNullTests
{
    [Fact]
    public async Task A_closed_socket_refuses_every_call_but_another_close()
    {
        await using var fixture = new StreamFixture();
        PairSocket socket = fixture.Context.CreatePair();
        socket.Dispose();
        socket.Dispose();
        Assert.Throws<ObjectDisposedException>(() => socket.Bind(Link.Any(Link.Tcp)));
        Assert.Throws<ObjectDisposedException>(() => socket.Connect("tcp://127.0.0.1:1"));
        Assert.Throws<ObjectDisposedException>(() => socket.Unbind("tcp://127.0.0.1:1"));
        Assert.Throws<ObjectDisposedException>(() => socket.Disconnect("tcp://127.0.0.1:1"));
        Assert.Throws<ObjectDisposedException>(() => socket.Send("late"u8));
        Assert.Throws<ObjectDisposedException>(() => socket.TrySend("late"u8));
        Assert.Throws<ObjectDisposedException>(() => socket.Receive(TimeSpan.Zero));
        Assert.Throws<ObjectDisposedException>(() => socket.TryReceive(out Message _));
    }

    [Fact]
    public async Task No_endpoint_at_all_is_an_argument_error()
    {
        await using var fixture = new StreamFixture();
        PairSocket socket = fixture.Context.CreatePair();
        Assert.Throws<ArgumentNullException>(() => socket.Bind(null!));
        Assert.Throws<ArgumentNullException>(() => socket.Connect(null!));
        Assert.Throws<ArgumentNullException>(() => socket.Unbind(null!));
        Assert.Throws<ArgumentNullException>(() => socket.Disconnect(null!));
    }
}
