using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Events of a socket, with the native numbers and addresses.</summary>
public sealed class MonitorTests
{
    [Fact]
    public async Task A_server_sees_listening_accepted_ready_and_disconnected()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream();
        // On a busy machine a turn may be long, which is an event of ours.
        using EventReader monitor = socket.ReadEvents(NativeEvents.All);
        string endpoint = socket.Bind("tcp://127.0.0.1:0");
        SocketEvent listening = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.Listening, endpoint, ""), (listening.Type, listening.LocalAddress, listening.RemoteAddress));
        Assert.True(listening.Value > 0);

        RawPeer peer = await fixture.ConnectAsync(endpoint);
        string remote = peer.LocalAddress;
        SocketEvent accepted = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.Accepted, endpoint, remote, 1u),
            (accepted.Type, accepted.LocalAddress, accepted.RemoteAddress, accepted.PeerId));
        Assert.True(accepted.Value > 0);
        SocketEvent ready = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.ConnectionReady, 0L, endpoint, remote, 1u),
            (ready.Type, ready.Value, ready.LocalAddress, ready.RemoteAddress, ready.PeerId));
        Assert.True(ready.RoutingId.IsEmpty);

        peer.EndSending();
        SocketEvent gone = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.Disconnected, 4L, endpoint, remote, 1u),
            (gone.Type, gone.ToNativeValue(), gone.LocalAddress, gone.RemoteAddress, gone.PeerId));

        socket.Dispose();
        SocketEvent closed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.Closed, listening.Value, endpoint), (closed.Type, closed.Value, closed.LocalAddress));
        SocketEvent last = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.MonitorStopped, 0L), (last.Type, last.Value));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => monitor.ReadAsync(Guard.Token).Guarded());
    }

    [Fact]
    public async Task When_a_context_ends_its_monitors_stop_first_and_hear_nothing_of_the_ends_of_connections()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        using EventReader monitor = socket.ReadEvents(NativeEvents.All);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();

        Task<ShutdownReport> shutdown = fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token);
        Assert.Empty(await peer.ReadToEndAsync());
        peer.EndSending();
        await shutdown.Guarded();

        List<SocketEventTypes> types = [];
        await foreach (SocketEvent one in monitor.ReadAllAsync(Guard.Token))
        {
            types.Add(one.Type);
        }

        Assert.Equal([SocketEventTypes.Accepted, SocketEventTypes.ConnectionReady, SocketEventTypes.Closed,
            SocketEventTypes.MonitorStopped], types);
    }

    [Fact]
    public async Task A_client_names_the_text_it_dialled_as_the_remote_end_of_every_event()
    {
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        string text = listener.Endpoint.Replace("127.0.0.1", "localhost", StringComparison.Ordinal);
        StreamSocket client = fixture.Context.CreateStream();
        using EventReader monitor = client.ReadEvents();
        uint id = await client.ConnectAsync(text, Guard.Token).Guarded();
        RawPeer peer = fixture.Own(await listener.AcceptAsync());
        string local = $"tcp://{peer.Socket.RemoteEndPoint}";
        SocketEvent delayed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.ConnectDelayed, 115L, "", text),
            (delayed.Type, delayed.ToNativeValue(), delayed.LocalAddress, delayed.RemoteAddress));
        SocketEvent connected = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.Connected, local, text, id),
            (connected.Type, connected.LocalAddress, connected.RemoteAddress, connected.PeerId));
        Assert.True(connected.Value > 0);
        SocketEvent ready = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.ConnectionReady, local, text), (ready.Type, ready.LocalAddress, ready.RemoteAddress));
        peer.Reset();
        SocketEvent gone = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.Disconnected, 4L, local, text, id),
            (gone.Type, gone.ToNativeValue(), gone.LocalAddress, gone.RemoteAddress, gone.PeerId));
    }

    [Fact]
    public async Task A_connection_that_this_side_ends_in_order_raises_no_Disconnected_event()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.MonitorStopped);
        RawPeer first = await fixture.ConnectAsync(endpoint);
        Assert.True(socket.Disconnect(await socket.NextConnectedAsync()));
        Assert.Empty(await first.ReadToEndAsync());
        await socket.NextDisconnectedAsync();
        await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        socket.Dispose();
        Assert.Equal(SocketEventTypes.MonitorStopped, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
    }

    [Fact]
    public async Task Each_monitor_has_its_own_mask_and_end()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        using EventReader accepted = socket.ReadEvents(SocketEventTypes.Accepted);
        using EventReader all = socket.ReadEvents();
        EventReader ended = socket.ReadEvents();
        ended.Dispose();
        ended.Dispose();
        await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        Assert.Equal(SocketEventTypes.Accepted, (await accepted.ReadAsync(Guard.Token).Guarded()).Type);
        Assert.False(accepted.TryRead(out _));
        Assert.Equal(SocketEventTypes.Accepted, (await all.ReadAsync(Guard.Token).Guarded()).Type);
        Assert.Equal(SocketEventTypes.ConnectionReady, (await all.ReadAsync(Guard.Token).Guarded()).Type);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => ended.ReadAsync(Guard.Token).Guarded());
        socket.Dispose();
        int rest = 0;
        await foreach (SocketEvent one in all.ReadAllAsync(Guard.Token))
        {
            Assert.True(one.Type is SocketEventTypes.Closed or SocketEventTypes.MonitorStopped);
            rest++;
        }

        Assert.Equal(2, rest);
    }

    [Fact]
    public async Task A_handler_that_holds_its_shard_for_long_is_reported_by_name()
    {
        await using var fixture = new StreamFixture(shards: 1);
        using var never = new ManualResetEventSlim();
        var handler = new TestHandler
        {
            Received = (_, _) =>
            {
                // The offence itself: a handler that blocks. For much longer than the limit, because the time that its thread waited for a
                // processor is subtracted, and that a little before it, too.
                never.Wait(TimeSpan.FromMilliseconds(400), Guard.Token);
                return ValueTask.CompletedTask;
            },
        };
        StreamSocket socket = fixture.Bind(handler, out string endpoint);
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.SlowHandler);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        SocketEvent slow = await monitor.NextAsync(SocketEventTypes.SlowHandler);
        Assert.InRange(slow.Value, 50, (long)Guard.Limit.TotalMilliseconds);
        Assert.Contains(nameof(TestHandler), slow.Detail, StringComparison.Ordinal);
    }
}
