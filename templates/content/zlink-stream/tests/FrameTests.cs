using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink;
using Xunit;

namespace ZlinkApp1.Tests;

public sealed class FrameTests
{
    [Fact]
    public async Task A_frame_comes_back()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration["Zlink:Streams:frames:Bind"] = "tcp://127.0.0.1:*"; // Any free port.
        builder.AddFrames();
        using IHost host = builder.Build();
        await host.StartAsync(cancellation);

        await using var context = new ZlinkContext();
        StreamSocket client = context.CreateStream();
        uint server = await client.ConnectAsync(host.Services.GetRequiredKeyedService<StreamSocket>("frames").LastEndpoint, cancellation);
        await client.To(server).SendAsync("hello"u8.ToArray(), cancellation);
        using StreamMessage connected = await client.ReceiveAsync(cancellation);
        using StreamMessage frame = await client.ReceiveAsync(cancellation);
        Assert.Equal(StreamMessageKind.Connected, connected.Kind);
        Assert.Equal("hello"u8, frame.Span);
        await host.StopAsync(cancellation);
    }
}
