using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>An endpoint that a socket had no place for, and that was disconnected in the same moment.</summary>
public sealed class RefusedEndpointTests
{
    [Fact]
    public async Task A_refused_and_disconnected_endpoint_can_be_connected_when_there_is_a_slot()
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        var socket = new FullCore(fixture.Context.Host);
        var endpoints = new ZmpEndpoints(socket, new InprocRegistry());
        var settings = new PairOptions { Linger = TimeSpan.Zero }.Snapshot(ZmpSocketType.Pair, alias: null);
        Task<bool> disconnecting = Task.FromResult(false);
        socket.Refusing = () =>
        {
            disconnecting = Task.Run(() => endpoints.Remove(listener.Endpoint, TimeSpan.Zero), Guard.Token);
            SpinWait.SpinUntil(() => socket.Table.Dialers.Length == 0); // Then it waits for the socket's lock, in which this is.
        };
        endpoints.Connect(listener.Endpoint, settings, out _);
        Assert.True(await disconnecting.Guarded());
        socket.Refusing = null;
        endpoints.Connect(listener.Endpoint, settings, out _);
        using RawPeer peer = await listener.AcceptAsync();
        endpoints.Remove(listener.Endpoint, TimeSpan.Zero);
        await peer.ReadToAnyEndAsync();
    }

    /// <summary>A socket that has a place or has not, as the test wishes.</summary>
    private sealed class FullCore(EngineHost host) : SocketCore(host, ZmpSocketType.Pair)
    {
        public Action? Refusing { get; set; }

        public override bool CanSend => true;

        public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message) => SendStatus.Full;

        protected override bool Attach(PeerLink link)
        {
            Refusing?.Invoke();
            return Refusing is null;
        }

        protected override void Remove(PeerLink link)
        {
        }
    }
}
