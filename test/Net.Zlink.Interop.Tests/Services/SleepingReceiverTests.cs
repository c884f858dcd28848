using System.Diagnostics;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>Heartbeats of our gateway at a native receiver whose application does not receive.</summary>
public sealed class SleepingReceiverTests
{
    private static readonly TimeSpan Timeout = TimeSpan.FromMilliseconds(200);

    [NativeFact]
    public async Task A_native_receiver_whose_application_sleeps_keeps_its_connection_and_gets_all()
    {
        const int Count = 2_000;
        using var native = new NativeContext();
        using NativeReceiver receiver = Open(native, mark: 0, out string endpoint);
        await using var context = new ZlinkContext();
        await using ServiceGateway gateway = Connect(context, endpoint, out ServiceClient client);
        await client.WaitUntilReadyAsync(cancellationToken: Limits.Token);
        for (int i = 0; i < Count; i++)
        {
            Assert.True(client.TrySend(BitConverter.GetBytes(i)));
        }

        long start = Stopwatch.GetTimestamp();
        Limits.Until("many timeouts pass", () => Stopwatch.GetElapsedTime(start) > 10 * Timeout);
        for (int i = 0; i < Count; i++)
        {
            Assert.Equal(BitConverter.GetBytes(i), Assert.IsType<byte[][]>(receiver.Router.Receive(Limits.Wait))[1]);
        }

        Assert.Equal(1, Assert.Single(gateway.GetReceivers()).Connections);
    }

    /// <summary>It stops reading, and answers no heartbeat: for us it is as a frozen one. What it has not read it loses when the gateway
    /// connects again (docs/PortingGuide.md).</summary>
    [NativeTheory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_native_receiver_at_its_mark_gets_all_from_a_gateway_without_heartbeats_and_is_dead_for_one_with_them(
        bool hasHeartbeats)
    {
        const int Count = 1_000;
        using var native = new NativeContext();
        using NativeReceiver receiver = Open(native, mark: 10, out string endpoint);
        await using var context = new ZlinkContext();
        await using ServiceGateway gateway = Connect(context, endpoint, out ServiceClient client, hasHeartbeats);
        await client.WaitUntilReadyAsync(cancellationToken: Limits.Token);
        byte[] payload = new byte[1_000];
        for (int i = 0; i < Count; i++)
        {
            BitConverter.TryWriteBytes(payload, i);
            Assert.True(client.TrySend(payload));
        }

        if (hasHeartbeats)
        {
            Limits.Until("the connection ends", () => client.ReadyCount == 0);
            await client.WaitUntilReadyAsync(cancellationToken: Limits.Token);
            Limits.Until("a later message comes", () => client.TrySend("after"u8)
                && receiver.Router.Receive(Limits.Nothing) is { } message && message[1].AsSpan().SequenceEqual("after"u8));
            return;
        }

        long start = Stopwatch.GetTimestamp();
        Limits.Until("many timeouts pass", () => Stopwatch.GetElapsedTime(start) > 10 * Timeout);
        for (int i = 0; i < Count; i++)
        {
            Assert.Equal(i, BitConverter.ToInt32(Assert.IsType<byte[][]>(receiver.Router.Receive(Limits.Wait))[1]));
        }

        Assert.Equal(1, Assert.Single(gateway.GetReceivers()).Connections);
    }

    private static NativeReceiver Open(NativeContext context, int mark, out string endpoint)
    {
        var receiver = new NativeReceiver(context);
        receiver.SetOption(NativeRole.ReceiverRouter, NativeOption.Linger, 0);
        receiver.SetOption(NativeRole.ReceiverRouter, NativeOption.ReceiveHighWaterMark, mark);
        endpoint = receiver.Bind($"tcp://127.0.0.1:{FreePort.Next()}");
        return receiver;
    }

    private static ServiceGateway Connect(ZlinkContext context, string endpoint, out ServiceClient client, bool hasHeartbeats = true)
    {
        var gateway = new ServiceGateway(context, new StaticDirectory(new ServiceInstance("svc", endpoint)), new ServiceGatewayOptions
        {
            Socket =
            {
                HeartbeatInterval = hasHeartbeats ? Timeout / 4 : TimeSpan.Zero, HeartbeatTimeout = Timeout, Linger = TimeSpan.Zero,
            },
        });
        client = gateway.GetClient("svc");
        return gateway;
    }
}
