using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>Heartbeats between ours and a native peer. Real time: the native core has no other.</summary>
public sealed class HeartbeatTests
{
    // A busy machine may answer later than the timeout that goes with the interval: it is meant to act in one test only.
    private static readonly int NoTimeout = (int)Limits.Wait.TotalMilliseconds;

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public async Task Heartbeats_of_both_ends_keep_an_idle_connection(PeerKind connecterKind, PeerKind binderKind)
    {
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Dealer);
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Dealer);

        // No time to live on top: a native engine has one timer, and a heartbeat that announces one ends its own heartbeats.
        binder.SetOption(NativeOption.HeartbeatInterval, 20);
        connecter.SetOption(NativeOption.HeartbeatInterval, 20);
        binder.SetOption(NativeOption.HeartbeatTimeout, NoTimeout);
        connecter.SetOption(NativeOption.HeartbeatTimeout, NoTimeout);

        await using var relay = new TcpRelay(binder.Bind("tcp://127.0.0.1:0"));
        connecter.Connect(relay.Endpoint);
        connecter.WaitForEvent(NativeEventTypes.ConnectionReady);
        binder.WaitForEvent(NativeEventTypes.ConnectionReady);
        await relay.WaitForTrafficAsync(20);
        Assert.Null(connecter.NextEvent(TimeSpan.Zero));
        Assert.Null(binder.NextEvent(TimeSpan.Zero));
        connecter.SendText("there");
        Assert.Equal("there", binder.ReceiveText());
        binder.SendText("back");
        Assert.Equal("back", connecter.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public async Task A_peer_that_has_no_heartbeat_of_its_own_answers_those_it_gets(PeerKind askedKind, PeerKind askingKind)
    {
        using IPeerSocket asking = askingKind.Create(NativeSocketType.Pair);
        using IPeerSocket asked = askedKind.Create(NativeSocketType.Pair);
        asking.SetOption(NativeOption.HeartbeatInterval, 20);
        asking.SetOption(NativeOption.HeartbeatTimeout, NoTimeout);
        await using var relay = new TcpRelay(asking.Bind("tcp://127.0.0.1:0"));
        asked.Connect(relay.Endpoint);
        asked.WaitForEvent(NativeEventTypes.ConnectionReady);

        // What comes back while no message is sent can only be answers.
        await relay.WaitForTrafficAsync(20);
        Assert.Null(asked.NextEvent(TimeSpan.Zero));
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public async Task A_peer_that_falls_silent_is_let_go_after_the_time_it_announced(PeerKind waitingKind, PeerKind silentKind)
    {
        using IPeerSocket waiting = waitingKind.Create(NativeSocketType.Dealer);
        using IPeerSocket silent = silentKind.Create(NativeSocketType.Dealer);
        silent.SetOption(NativeOption.HeartbeatInterval, 20);
        silent.SetOption(NativeOption.HeartbeatTtl, 300);
        silent.SetOption(NativeOption.HeartbeatTimeout, NoTimeout);
        await using var relay = new TcpRelay(waiting.Bind("tcp://127.0.0.1:0"));
        silent.Connect(relay.Endpoint);
        waiting.WaitForEvent(NativeEventTypes.ConnectionReady);
        await relay.WaitForTrafficAsync(3);
        relay.Freeze();
        Assert.Equal(PeerEvent.ReasonTransport, waiting.WaitForEvent(NativeEventTypes.Disconnected).Value);
    }

    // The native core has the option and does not act on it.
    [Theory]
    [MemberData(nameof(PeerSides.OfOurs), MemberType = typeof(PeerSides))]
    public async Task A_peer_that_answers_no_heartbeat_is_let_go_after_the_timeout_and_tried_again(PeerKind silentKind)
    {
        using var waiting = new ManagedPeer(NativeSocketType.Dealer);
        using IPeerSocket silent = silentKind.Create(NativeSocketType.Dealer);
        waiting.SetOption(NativeOption.HeartbeatInterval, 20);
        waiting.SetOption(NativeOption.HeartbeatTimeout, 300);
        waiting.SetOption(NativeOption.ReconnectInterval, 10);
        await using var relay = new TcpRelay(silent.Bind("tcp://127.0.0.1:0"));
        waiting.Connect(relay.Endpoint);
        waiting.WaitForEvent(NativeEventTypes.ConnectionReady);
        await relay.WaitForTrafficAsync(20); // it is answered, and lives
        Assert.Null(waiting.NextEvent(TimeSpan.Zero));
        relay.Freeze();
        Assert.Equal("Disconnected(4)", waiting.EventsUpTo(NativeEventTypes.ConnectRetried)[0]);
        relay.Thaw();
        waiting.WaitForEvent(NativeEventTypes.ConnectionReady);
        waiting.SendText("again");
        Assert.Equal("again", silent.ReceiveText());
    }
}
