using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>STREAM: ours connects to the native core's, over every transport.</summary>
public sealed class StreamTests
{
    private const int Flood = 20_000;

    public static TheoryData<TestTransport> Transports { get; } = [.. TestTransports.All];

    public static TheoryData<TestTransport> TlsTransports { get; } = [TestTransport.Tls, TestTransport.Wss];

    [NativeTheory]
    [MemberData(nameof(Transports))]
    public void A_native_socket_does_not_connect(TestTransport transport)
    {
        using var context = new NativeContext();
        using NativeSocket native = context.CreateSocket(NativeSocketType.Stream);
        string endpoint = transport is TestTransport.Ipc ? "ipc:///tmp/nobody" : $"{transport.ToString().ToLowerInvariant()}://127.0.0.1:9";
        Assert.Equal(NativeErrno.NotSupported, Assert.Throws<NativeException>(() => native.Connect(endpoint)).Error);
    }

    [NativeTheory]
    [MemberData(nameof(Transports))]
    public async Task Frames_of_every_size_arrive_as_they_were_sent(TestTransport transport)
    {
        const int Limit = 8 * 1024 * 1024; // the native core's default on all but tcp
        await using StreamLink link = new StreamLink(transport).Bind();
        (uint here, uint there) = await link.ConnectAsync();
        foreach (int size in new[] { 1, 33, 255, 256, 8 * 1024, (64 * 1024) - 4, 64 * 1024, 1024 * 1024, Limit })
        {
            byte[] payload = StreamLink.Payload(size, size);
            await link.Client.To(here).SendAsync(payload, Limits.Token).AsTask().Guarded();
            (uint from, byte[] received) = link.NextAtServer();
            Assert.Equal(there, from);
            TestPayload.AssertEqual([payload], [received], $"{size} bytes there");
            link.SendFromServer(there, payload);
            TestPayload.AssertEqual([payload], [await link.NextDataAsync(here)], $"{size} bytes back");
        }
    }

    [NativeTheory]
    [MemberData(nameof(Transports))]
    public async Task Twenty_thousand_frames_each_way_at_once_arrive_whole_and_in_order(TestTransport transport)
    {
        await using StreamLink link = new StreamLink(transport).Bind();
        (uint here, uint there) = await link.ConnectAsync();
        Task native = Limits.OnThread(() =>
        {
            int received = 0;
            for (int i = 0; i < Flood; i++)
            {
                link.SendFromServer(there, FloodPayload(i));
                if (i % 16 == 0 && link.NextAtServer(TimeSpan.Zero) is { } message)
                {
                    TestPayload.AssertEqual([FloodPayload(received)], [message.Payload], $"frame {received} there");
                    received++;
                }
            }

            for (; received < Flood; received++)
            {
                TestPayload.AssertEqual([FloodPayload(received)], [link.NextAtServer().Payload], $"frame {received} there");
            }
        });
        Task sending = Limits.OnThread(() =>
        {
            for (int i = 0; i < Flood; i++)
            {
                link.Client.To(here).Send(FloodPayload(i), Limits.Wait);
            }
        });
        for (int i = 0; i < Flood; i++)
        {
            TestPayload.AssertEqual([FloodPayload(i)], [await link.NextDataAsync(here)], $"frame {i} back");
        }

        await Task.WhenAll(sending, native).Guarded();

        static byte[] FloodPayload(int i) => StreamLink.Payload(i, 8 + (i % 100));
    }

    [NativeTheory]
    [MemberData(nameof(Transports))]
    public async Task Each_connection_is_a_peer_with_its_own_id_at_both_ends_until_it_ends(TestTransport transport)
    {
        await using StreamLink link = new StreamLink(transport).Bind();
        List<(uint Here, uint There)> peers = [];
        for (uint i = 1; i <= 3; i++)
        {
            (uint Here, uint There) peer = await link.ConnectAsync();
            Assert.Equal((i, i), peer);
            peers.Add(peer);
        }

        foreach ((uint here, uint there) in peers)
        {
            link.Client.To(here).Send("hello"u8, Limits.Wait);
            Assert.Equal(there, link.NextAtServer().Id);
            link.SendFromServer(there, "answer"u8.ToArray());
            Assert.Equal((here, StreamMessageKind.Data, "answer"), await link.NextAsync());
        }

        Assert.True(link.Client.Disconnect(peers[1].Here));
        Assert.Equal((peers[1].Here, StreamMessageKind.Disconnected, ""), await link.NextAsync());
        Assert.Equal(peers[1].There, link.NextDisconnectedAtServer());
        Assert.Equal((4u, 4u), await link.ConnectAsync()); // no id is used again

        // The others have noticed nothing.
        link.SendFromServer(peers[2].There, "still here"u8.ToArray());
        Assert.Equal((peers[2].Here, StreamMessageKind.Data, "still here"), await link.NextAsync());
    }

    [NativeTheory]
    [MemberData(nameof(Transports))]
    public async Task Empty_frames_come_from_the_native_socket_and_reach_it_over_tcp_only(TestTransport transport)
    {
        await using StreamLink link = new StreamLink(transport).Bind();
        (uint here, uint there) = await link.ConnectAsync();
        link.SendFromServer(there, []);
        Assert.Equal((here, StreamMessageKind.Data, ""), await link.NextAsync());
        link.Client.To(here).Send("before"u8, Limits.Wait);
        Assert.Equal("before"u8, link.NextAtServer().Payload);
        link.Client.To(here).Send(default, Limits.Wait);
        if (transport is TestTransport.Tcp)
        {
            Assert.Empty(link.NextAtServer().Payload);
        }
        else
        {
            // docs/protocol.md 5.4: elsewhere it is a fault for the native core, which sends them itself.
            Assert.Equal(there, link.NextDisconnectedAtServer());
            Assert.Equal((here, StreamMessageKind.Disconnected, ""), await link.NextAsync());
        }
    }

    [NativeTheory]
    [MemberData(nameof(Transports))]
    public async Task A_frame_over_the_native_limit_ends_that_connection_at_both_ends(TestTransport transport)
    {
        await using var link = new StreamLink(transport);
        link.Server.SetOption(NativeOption.MaxMessageSize, BitConverter.GetBytes(1000L));
        link.Bind();
        (uint here, uint there) = await link.ConnectAsync();
        using EventReader monitor = link.Client.ReadEvents(SocketEventTypes.Disconnected);
        link.Client.To(here).Send(StreamLink.Payload(1, 1000), Limits.Wait);
        TestPayload.AssertEqual([StreamLink.Payload(1, 1000)], [link.NextAtServer().Payload], "at the limit");
        link.Client.To(here).Send(StreamLink.Payload(2, 1001), Limits.Wait);
        Assert.Equal(there, link.NextDisconnectedAtServer());
        Assert.Equal((here, StreamMessageKind.Disconnected, ""), await link.NextAsync());
        Assert.Equal(PeerEvent.ReasonTransport, (await monitor.ReadAsync(Limits.Token).AsTask().Guarded()).ToNativeValue());
        await link.ConnectAsync();
    }

    [NativeTheory]
    [MemberData(nameof(Transports))]
    public async Task A_frame_over_our_limit_ends_that_connection_at_both_ends(TestTransport transport)
    {
        await using var link = new StreamLink(transport);
        link.Client.Options.MaxMessageSize = 1000;
        link.Bind();
        (uint here, uint there) = await link.ConnectAsync();
        using EventReader monitor = link.Client.ReadEvents(SocketEventTypes.Disconnected);
        link.SendFromServer(there, StreamLink.Payload(1, 1000));
        TestPayload.AssertEqual([StreamLink.Payload(1, 1000)], [await link.NextDataAsync(here)], "at the limit");
        link.SendFromServer(there, StreamLink.Payload(2, 1001));
        Assert.Equal((here, StreamMessageKind.Disconnected, ""), await link.NextAsync());
        Assert.Equal(PeerEvent.ReasonProtocol, (await monitor.ReadAsync(Limits.Token).AsTask().Guarded()).ToNativeValue());
        Assert.Equal(there, link.NextDisconnectedAtServer());
    }

    [NativeTheory]
    [MemberData(nameof(Transports))]
    public async Task A_native_socket_that_dies_and_comes_back_is_found_again_as_a_new_peer(TestTransport transport)
    {
        await using StreamLink link = new StreamLink(transport).Bind();
        var options = new StreamConnectOptions { Reconnect = true, ReconnectInterval = TimeSpan.FromMilliseconds(10) };
        uint here = await link.Client.ConnectAsync(link.Bound, options, Limits.Token).AsTask().Guarded();
        for (int life = 0; life < 3; life++)
        {
            Assert.Equal((here, StreamMessageKind.Connected, ""), await link.NextAsync());
            uint there = link.NextConnectedAtServer();
            link.Client.To(here).Send("hello"u8, Limits.Wait);
            Assert.Equal("hello"u8, link.NextAtServer().Payload);
            link.SendFromServer(there, "alive"u8.ToArray());
            Assert.Equal((here, StreamMessageKind.Data, "alive"), await link.NextAsync());
            link.KillServer();
            Assert.Equal((here, StreamMessageKind.Disconnected, ""), await link.NextAsync());
            link.RestartServer();
            here++;
        }

        Assert.Equal((here, StreamMessageKind.Connected, ""), await link.NextAsync());
    }

    [NativeTheory]
    [MemberData(nameof(TlsTransports))]
    public async Task A_native_socket_that_demands_a_certificate_refuses_a_client_without_one_and_takes_one_with_it(TestTransport transport)
    {
        await using var link = new StreamLink(transport);
        link.Server.SetOption(NativeOption.TlsCa, System.Text.Encoding.UTF8.GetBytes(link.Certificates!.CaFile));
        link.Server.SetOption(NativeOption.TlsRequireClientCert, 1);
        link.Bind();
        await Assert.ThrowsAsync<ZlinkException>(() => link.Client.ConnectAsync(link.Bound, Limits.Token).AsTask().Guarded());
        foreach (NativeEventTypes type in new[] { NativeEventTypes.Listening, NativeEventTypes.Accepted,
            NativeEventTypes.HandshakeFailedNoDetail, NativeEventTypes.Disconnected })
        {
            Assert.Equal(type, link.Monitor.Receive(Limits.Wait)!.Type);
        }

        link.Client.Options.Tls.Certificate = link.Certificates.Server;
        await link.ConnectAsync();
        Assert.Equal(NativeEventTypes.Accepted, link.Monitor.Receive(Limits.Wait)!.Type);
        Assert.Equal(NativeEventTypes.ConnectionReady, link.Monitor.Receive(Limits.Wait)!.Type);
    }

    [NativeTheory]
    [MemberData(nameof(TlsTransports))]
    public async Task A_certificate_that_we_refuse_is_told_in_words_here(TestTransport transport)
    {
        await using StreamLink link = new StreamLink(transport).Bind();
        link.Client.Options.Tls.CaFile = "";
        using EventReader monitor = link.Client.ReadEvents(NativeEvents.All);
        ZlinkException refused = await Assert.ThrowsAsync<ZlinkException>(
            () => link.Client.ConnectAsync(link.Bound, Limits.Token).AsTask().Guarded());
        Assert.Contains("which this side does not trust", refused.Message, StringComparison.Ordinal);
        foreach (SocketEventTypes type in new[] { SocketEventTypes.ConnectDelayed, SocketEventTypes.Connected,
            SocketEventTypes.HandshakeFailedNoDetail, SocketEventTypes.Disconnected })
        {
            Assert.Equal(type, (await monitor.ReadAsync(Limits.Token).AsTask().Guarded()).Type);
        }
    }
}
