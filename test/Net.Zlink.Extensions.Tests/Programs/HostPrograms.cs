using System.Text;
using System.Web;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Extensions.OpenTelemetry;
using Net.Zlink.Monitoring;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Programs (d), (e) and (i) of the comparison in docs/comparison.md. Its lines are those between the marks.</summary>
public sealed class HostPrograms
{
    [Fact]
    public async Task Program_d_is_a_chat_over_WebSocket_that_tells_who_came_spoke_and_left()
    {
        await using var host = new HostFixture();

        // begin d
        host.Services.AddZlinkStream("ws://127.0.0.1:*/chat", static stream => stream.UseHandler<ChatRoom>(), "chat");
        // end d

        await host.StartAsync();
        string endpoint = host.Get<StreamSocket>("chat").LastEndpoint;
        await using var context = new ZlinkContext();
        using StreamSocket ann = context.CreateStream();
        uint toAnn = await ann.ConnectAsync($"{endpoint}?name=ann", Guard.Token).Guarded();
        Assert.Equal("ann came", await HearAsync(ann));
        using StreamSocket bob = context.CreateStream();
        uint toBob = await bob.ConnectAsync($"{endpoint}?name=bob", Guard.Token).Guarded();
        Assert.Equal("bob came", await HearAsync(ann));
        Assert.Equal("bob came", await HearAsync(bob));
        await ann.To(toAnn).SendAsync("hello"u8.ToArray(), Guard.Token).Guarded();
        Assert.Equal("ann: hello", await HearAsync(bob));
        Assert.Equal("ann: hello", await HearAsync(ann));
        bob.Disconnect(toBob);
        Assert.Equal("bob left", await HearAsync(ann));
    }

    [Fact]
    public async Task Program_e_is_a_host_with_settings_health_telemetry_and_a_graceful_stop()
    {
        string[] args = ["--Zlink:Receivers:jobs:Bind=tcp://127.0.0.1:*", "--Logging:LogLevel:Default=None"];
        var work = new GatedWork();

        // begin e
        HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink")).AddHealthCheck();
        builder.Services.AddZlinkJson();
        builder.Services.AddZlinkReceiver<string, string>("jobs", "tcp://*:5555", (job, _) => work.DoAsync(job)).AddHealthCheck();
        builder.Services.AddOpenTelemetry()
            .WithTracing(static tracing => tracing.AddZlinkInstrumentation())
            .WithMetrics(static metrics => metrics.AddZlinkInstrumentation());
        // end e
        work.Watch(builder.Services);

        // begin e
        IHost host = builder.Build();
        // end e

        await host.StartAsync(Guard.Token).Guarded();
        await using var context = new ZlinkContext();
        await using var client = new RequestClient(context,
            host.Services.GetRequiredKeyedService<ServiceReceiver>("jobs").Socket.LastEndpoint, new JsonMessageSerializer(), "jobs");
        await work.CheckAsync(host, async job => await client.RequestAsync<string, string>(job, Guard.Limit, Guard.Token));
    }

    [Fact]
    public async Task Program_i_tests_a_handler_and_a_message_without_a_network()
    {
        // begin i
        Assert.Equal(new Quote("EUR", 2), await QuoteAsync(new Ask("EUR")));
        await Assert.ThrowsAsync<KeyNotFoundException>(async () => await QuoteAsync(new Ask("XXX")));
        using var message = Message.Create("EUR");
        Assert.Equal("EUR", message.GetString());
        // end i
    }

    private static async Task<string> HearAsync(StreamSocket socket)
    {
        while (true)
        {
            using StreamMessage message = await socket.ReceiveAsync(Guard.Token).Guarded();
            if (message.Kind == StreamMessageKind.Data)
            {
                return Encoding.UTF8.GetString(message.Span);
            }
        }
    }

    // begin i
    private static ValueTask<Quote> QuoteAsync(Ask ask) =>
        ask.Currency is "EUR" ? ValueTask.FromResult(new Quote("EUR", 2)) : throw new KeyNotFoundException(ask.Currency);
    // end i

    // begin d
    public sealed class ChatRoom([FromKeyedServices("chat")] StreamSocket socket) : StreamHandler
    {
        public override void OnConnected(StreamPeer peer) => Tell($"{NameOf(peer)} came");

        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            foreach (ReadOnlyMemory<byte> line in frames)
            {
                Tell($"{NameOf(peer)}: {Encoding.UTF8.GetString(line.Span)}");
            }

            return ValueTask.CompletedTask;
        }

        public override void OnDisconnected(StreamPeer peer, DisconnectReason reason) => Tell($"{NameOf(peer)} left");

        private static string NameOf(StreamPeer peer) => HttpUtility.ParseQueryString(peer.WebSocketRequest?.Query ?? "")["name"]!;

        private void Tell(string line) =>
            socket.Broadcast([.. socket.GetPeers().Select(static peer => peer.Id)], Encoding.UTF8.GetBytes(line));
    }
    // end d
}
