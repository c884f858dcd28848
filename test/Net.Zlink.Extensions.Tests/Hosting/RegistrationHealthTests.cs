using Microsoft.Extensions.Diagnostics.HealthChecks;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

public class RegistrationHealthTests
{
    [Fact]
    public async Task A_receiver_is_unhealthy_while_a_native_registry_accepts_it_and_lists_it_nowhere()
    {
        await using var context = new ZlinkContext();
        using RouterSocket router = context.CreateRouter().BoundTo("tcp://127.0.0.1:0");
        using XPubSocket lists = context.CreateXPub(new XPubOptions { Notices = SubscriptionNotices.AllSubscriptions })
            .BoundTo("tcp://127.0.0.1:0");
        Task answering = AcceptAllAsync(router);
        await using var host = new HostFixture(
            ("Receivers:quotes:Bind", "tcp://127.0.0.1:0"), ("Receivers:quotes:Registries", router.LastEndpoint),
            ("Receivers:quotes:HeartbeatInterval", "00:00:00.2"), ("Gateway:FollowRegistries", lists.LastEndpoint));
        host.Services.AddZlink(host.Section);
        host.Services.AddZlinkJson(Contracts.Default);
        host.Services.AddZlinkReceiver<Ask, Quote>(
            "quotes", bind: null, static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1))).AddHealthCheck();
        host.Services.AddZlinkGateway(static _ => { });
        await host.StartAsync();
        (await lists.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        await SendAsync(lists, U16(5), U32(1), BitConverter.GetBytes(1UL), U32(0));

        HealthReportEntry red;
        do
        {
            red = await host.CheckAsync("zlink-receiver-quotes");
        }
        while (!red.Description!.Contains("Unconfirmed", StringComparison.Ordinal));

        Assert.Equal(HealthStatus.Unhealthy, red.Status);
        Assert.Contains("no registry lists the receiver", red.Description, StringComparison.Ordinal);
        Assert.Contains("do not contain it", red.Description, StringComparison.Ordinal);
        Assert.Single(host.Log, static line => line.Id.Id == 2103);
        await host.StopAsync();
        router.Dispose();
        await answering.Guarded();
    }

    /// <summary>As the native registry answers: four parts.</summary>
    private static async Task AcceptAllAsync(RouterSocket router)
    {
        await foreach (Message request in router.ReceiveAllAsync())
        {
            using (request)
            {
                if (request[0].Span is [1, 0])
                {
                    using var ack = new MessageBuilder();
                    ack.Add(U16(2)).Add([0]).Add(request[3].Span).Add("");
                    router.To(request).TrySend(ack);
                }
            }
        }
    }

    private static async Task SendAsync(XPubSocket lists, params byte[][] frames)
    {
        using var list = new MessageBuilder();
        foreach (byte[] frame in frames)
        {
            list.Add(frame);
        }

        await lists.SendAsync(list, Guard.Token).Guarded();
    }

    private static byte[] U16(ushort value) => BitConverter.GetBytes(value);

    private static byte[] U32(uint value) => BitConverter.GetBytes(value);
}
