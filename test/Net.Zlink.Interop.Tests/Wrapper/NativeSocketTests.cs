using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Wrapper;

/// <summary>The P/Invoke layer, native to native: what it says about others is worth no more than what these say about it.</summary>
public sealed class NativeSocketTests
{
    [NativeFact(SaysHowToTurnOn = true)]
    public void The_native_library_is_of_the_version_that_ours_was_written_against() =>
        Assert.Equal(new Version(1, 3, 0), NativeContext.LibraryVersion);

    [NativeFact]
    public void Messages_of_several_parts_keep_their_parts_and_bytes()
    {
        using var context = new NativeContext();
        using NativeSocket binder = context.CreateSocket(NativeSocketType.Pair);
        using NativeSocket connecter = context.CreateSocket(NativeSocketType.Pair);
        binder.Bind("tcp://127.0.0.1:0");
        connecter.Connect(binder.LastEndpoint);
        byte[][] message = [[], [1], TestPayload.Make(7, 70_000)];
        Assert.Equal(NativeSendResult.Sent, connecter.Send(message, Limits.Wait));
        TestPayload.AssertEqual(message, binder.Receive(Limits.Wait)!, "there");
        Assert.Equal(NativeSendResult.Sent, binder.Send(message, Limits.Wait));
        TestPayload.AssertEqual(message, connecter.Receive(Limits.Wait)!, "and back");
    }

    [NativeFact]
    public void A_receive_and_a_send_end_at_their_timeouts()
    {
        using var context = new NativeContext();
        using NativeSocket socket = context.CreateSocket(NativeSocketType.Pair);
        Assert.Null(socket.Receive(TimeSpan.Zero));
        Assert.Null(socket.Receive(TimeSpan.FromMilliseconds(20)));
        Assert.Equal(NativeSendResult.WouldBlock, socket.Send([[1]], TimeSpan.FromMilliseconds(20)));
        Assert.Equal([NativePollEvents.None], NativePoll.Wait(TimeSpan.FromMilliseconds(20), (socket, NativePollEvents.In)));
    }

    [NativeFact]
    public void Options_are_read_back_and_refused_by_number()
    {
        using var context = new NativeContext();
        using NativeSocket socket = context.CreateSocket(NativeSocketType.Dealer);
        Assert.Equal(300_000, socket.GetInt32Option(NativeOption.SendHighWaterMark));
        socket.SetOption(NativeOption.SendHighWaterMark, 7);
        Assert.Equal(7, socket.GetInt32Option(NativeOption.SendHighWaterMark));
        socket.SetOption(NativeOption.RoutingId, "me"u8);
        Assert.Equal("me"u8, socket.GetOption(NativeOption.RoutingId));
        Assert.Equal("", socket.LastEndpoint);
        Assert.Equal(NativeErrno.Invalid, Assert.Throws<NativeException>(() => socket.SetOption(NativeOption.Subscribe, "a"u8)).Error);
    }

    [NativeFact]
    public void A_router_knows_its_peers_and_refuses_unknown_ones_if_told_to()
    {
        using var context = new NativeContext();
        using NativeSocket router = context.CreateSocket(NativeSocketType.Router);
        using NativeSocket dealer = context.CreateSocket(NativeSocketType.Dealer);
        router.SetOption(NativeOption.RouterMandatory, 1);
        dealer.SetOption(NativeOption.RoutingId, "d"u8);
        router.Bind("tcp://127.0.0.1:0");
        dealer.Connect(router.LastEndpoint);
        dealer.Send(["hello"u8.ToArray()], Limits.Wait);
        TestPayload.AssertEqual(["d"u8.ToArray(), "hello"u8.ToArray()], router.Receive(Limits.Wait)!, "with the id");
        Assert.Equal("d", Encoding.UTF8.GetString(Assert.Single(router.GetPeers()).RoutingId));
        Assert.Equal(NativeSendResult.Unreachable, router.Send(["x"u8.ToArray(), []], Limits.Wait));
        Assert.Equal(NativeSendResult.Sent, router.Send(["d"u8.ToArray(), []], Limits.Wait));
        TestPayload.AssertEqual([[]], dealer.Receive(Limits.Wait)!, "the answer");
    }

    [NativeFact]
    public void The_monitor_tells_a_connection_from_both_ends()
    {
        using var context = new NativeContext();
        using NativeSocket binder = context.CreateSocket(NativeSocketType.Pair);
        NativeMonitor ofBinder = binder.OpenMonitor();
        using NativeSocket connecter = context.CreateSocket(NativeSocketType.Pair);
        NativeMonitor ofConnecter = connecter.OpenMonitor(NativeEventTypes.ConnectionReady);
        connecter.SetOption(NativeOption.RoutingId, "c"u8);
        binder.Bind("tcp://127.0.0.1:0");
        connecter.Connect(binder.LastEndpoint);
        Assert.Equal(NativeEventTypes.Listening, ofBinder.Receive(Limits.Wait)!.Type);
        Assert.Equal(NativeEventTypes.Accepted, ofBinder.Receive(Limits.Wait)!.Type);
        NativeMonitorEvent ready = ofBinder.Receive(Limits.Wait)!;
        Assert.Equal(NativeEventTypes.ConnectionReady, ready.Type);
        Assert.Equal("c"u8, ready.RoutingId);
        Assert.Equal(binder.LastEndpoint, ready.LocalAddress);
        Assert.Equal(binder.LastEndpoint, ofConnecter.Receive(Limits.Wait)!.RemoteAddress);
    }

    [NativeFact]
    public async Task A_shut_down_context_wakes_a_blocked_receive()
    {
        using var context = new NativeContext();
        using NativeSocket socket = context.CreateSocket(NativeSocketType.Dealer);
        Task<NativeException> blocked = Task.Factory.StartNew(
            () => Assert.Throws<NativeException>(() => socket.Receive(Limits.Wait)), Limits.Token, TaskCreationOptions.LongRunning,
                TaskScheduler.Default);
        context.Shutdown();
        Assert.Equal(NativeErrno.ContextTerminated, (await blocked.Guarded()).Error);
    }
}
