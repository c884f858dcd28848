using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>A native receiver whose application does not receive for longer than the heartbeats of our gateway wait, below its mark and
/// at it.</summary>
public sealed class SlowReceiverTests
{
    private const string Service = "svc";
    private const int Size = 1_000;
    private const int Mark = 1_000;

    // Behind its mark a native receiver keeps 10 MB; at more it ends the connection, and loses them.
    private const int BeyondMark = 6_000;

    // Longer than the default timeout.
    private static readonly TimeSpan s_sleep = TimeSpan.FromSeconds(SlowTests.Rounds(5, 30));

    [NativeTheory]
    [InlineData(Mark / 2, true)]
    [InlineData(Mark / 2, false)]
    [InlineData(BeyondMark, false)]
    public Task Messages_for_a_native_receiver_whose_application_sleeps_are_all_received_also_with_heartbeats_below_its_mark(
        int count, bool hasHeartbeats) => SleepAsync(count, hasHeartbeats, isLost: false);

    /// <summary>A departure: at its mark it reads no heartbeats, as if it were frozen.</summary>
    [NativeFact]
    public Task A_native_receiver_at_its_mark_answers_no_heartbeats_and_what_is_lost_with_its_connection_is_counted() =>
        SleepAsync(BeyondMark, hasHeartbeats: true, isLost: true);

    private static async Task SleepAsync(int count, bool hasHeartbeats, bool isLost)
    {
        using var scene = new ServiceScene();
        using var native = new NativeContext();
        using var receiver = new NativeReceiver(native, "receiver");
        receiver.SetOption(NativeRole.ReceiverRouter, NativeOption.ReceiveHighWaterMark, Mark);
        string endpoint = receiver.Bind(scene.NewEndpoint());
        await using var context = new ZlinkContext();
        var options = new GatewayOptions();
        await using var gateway = new Gateway(context, new StaticDirectory(new ServiceInstance(Service, endpoint)),
            hasHeartbeats ? options : options with { HeartbeatInterval = TimeSpan.Zero });
        ServiceClient client = gateway.GetService(Service);
        await client.WaitUntilReadyAsync(cancellationToken: Limits.Token);
        byte[] payload = new byte[Size];
        for (int i = 0; i < count; i++)
        {
            BitConverter.TryWriteBytes(payload, i);
            await client.SendAsync(payload, Limits.Token);
        }

        Assert.Equal(isLost, Limits.HappensWithin(s_sleep, () => client.ReadyCount == 0));
        int received = 0;
        while (received < count && receiver.Router.Receive(isLost ? Limits.Nothing : Limits.Wait) is { } message)
        {
            Assert.Equal(received++, BitConverter.ToInt32(message[1]));
        }

        Assert.InRange(received, isLost ? Mark : count, count);
        SocketStatistics statistics = gateway.GetStatistics().Socket;
        Assert.InRange(statistics.UnconfirmedMessages + statistics.DroppedMessages, count - received, count);
    }
}
