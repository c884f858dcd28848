using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;
using Net.Zlink.AspNetCore;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>A web application's endpoint is a ws endpoint to the native core.</summary>
public sealed class WebApplicationTests
{
    [NativeFact]
    public async Task A_native_DEALER_exchanges_messages_of_all_sizes_with_a_ROUTER_of_a_web_application()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        await using var context = new ZlinkContext();
        RouterSocket router = context.CreateRouter();
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        await using WebApplication app = builder.Build();
        app.MapZlink("/jobs", router);
        await app.StartAsync(cancellation);
        using IPeerSocket dealer = PeerKind.Native.Create(NativeSocketType.Dealer);
        dealer.Connect($"{app.Urls.Single().Replace("http", "ws", StringComparison.Ordinal)}/jobs");
        foreach (int length in (int[])[1, 300, 70_000, 500_000])
        {
            string text = new('x', length);
            dealer.SendText(text, "end");
            using (Message message = await router.ReceiveAsync(cancellation))
            {
                Assert.Equal((text, "end"), (message.GetString(0), message.GetString(1)));
                await router.To(message.RoutingId).SendAsync(message.Memory, cancellation);
            }

            Assert.Equal(text, dealer.ReceiveText());
        }
    }
}
