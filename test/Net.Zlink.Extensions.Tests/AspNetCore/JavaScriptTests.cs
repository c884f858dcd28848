using System.Collections.Concurrent;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Net.Zlink.AspNetCore;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests.AspNetCore;

/// <summary>The JavaScript module in Node, against sockets of a web application and a receiver.</summary>
public sealed class JavaScriptTests
{
    [Fact]
    public async Task The_JavaScript_module_exchanges_messages_with_our_sockets()
    {
        string? node = Programs.Find("node");
        Assert.SkipWhen(node is null, "node is not installed, so clients/javascript was not tested: install Node 22");
        await using var web = new WebFixture();
        using var sockets = new Served(web.Context);
        await web.StartAsync(sockets.Map);

        // Node 20 has a WebSocket behind a switch; later versions ignore the switch.
        ProgramEnd end = await Programs
            .Installed(
                node, Path.Combine(Repository.Root, "clients/javascript"), "--test", "--test-force-exit", "--test-timeout=50000", "test/")
            .With("NODE_OPTIONS", "--experimental-websocket --no-warnings")
            .With("ZLINK_TEST_URL", web.Address)
            .With("ZLINK_TEST_RECEIVER", sockets.Endpoint)
            .RunAsync();
        Assert.True(end.Code == 0, $"{end.Output}\n{end.Errors}");
        Assert.Contains("pass 1", end.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("SKIP", end.Output, StringComparison.Ordinal);
    }

    /// <summary>What the tests of the module speak to.</summary>
    private sealed class Served : IDisposable
    {
        private readonly ConcurrentDictionary<HttpContext, PathString> _requests = [];
        private readonly LastValuePublisher _feed;
        private readonly SubSocket _sub;
        private readonly RouterSocket _jobs;
        private readonly StreamSocket _stream;
        private readonly StreamSocket _frames;
        private readonly ServiceReceiver _receiver;
        private readonly ServiceGateway _gateway;

        public Served(ZlinkContext context)
        {
            _feed = new LastValuePublisher(context);
            _feed.Publish("price.EUR", "1.17"u8);
            _feed.Publish("price.USD", "1"u8);
            _sub = context.CreateSub();
            _sub.Subscribe("a");
            _jobs = context.CreateRouter();
            _stream = context.CreateStream();
            _frames = context.CreateStream();
            _receiver = new ServiceReceiver(context);
            Endpoint = _receiver.Bind("ws://127.0.0.1:0/");
            _ = _receiver.ServeAsync(AnswerAsync);
            _gateway = new ServiceGateway(context, new StaticDirectory(new ServiceInstance("echo", Endpoint)));
            _ = EchoAsync();
            _ = RepeatAsync();
        }

        public string Endpoint { get; }

        public void Map(WebApplication app)
        {
            app.Use(async (request, next) =>
            {
                _requests[request] = request.Request.Path;
                try
                {
                    await next();
                }
                finally
                {
                    _requests.TryRemove(request, out _);
                }
            });
            app.MapZlink("/feed", _feed.Socket);
            app.MapZlink("/sub", _sub);
            app.MapZlink("/jobs", _jobs);
            app.MapZlink("/stream", _stream, new EchoHandler());
            app.MapZlink("/frames", _frames, new EchoHandler(), static options => options.OneFramePerMessage = true);
            app.MapZlinkRequests("/ask", _gateway, static options =>
            {
                options.Services.Add("echo");
                options.MaxOpenRequests = 50;
            });
            app.MapGet("/cut/{name}", (string name) =>
            {
                foreach ((HttpContext request, _) in _requests.Where(one => one.Value == $"/{name}"))
                {
                    request.Abort();
                }
            });
        }

        public void Dispose()
        {
            _gateway.Dispose();
            _receiver.Dispose();
        }

        /// <summary>Every message goes back to its sender.</summary>
        private async Task EchoAsync()
        {
            await foreach (Message message in _jobs.ReceiveAllAsync(Guard.Token))
            {
                using (message)
                {
                    using var reply = new MessageBuilder();
                    for (int i = 0; i < message.PartCount; i++)
                    {
                        reply.Add(message[i].Span);
                    }

                    await _jobs.To(message.RoutingId).SendAsync(reply, Guard.Token);
                }
            }
        }

        /// <summary>What a publisher sends is in the feed.</summary>
        private async Task RepeatAsync()
        {
            await foreach (Message message in _sub.ReceiveAllAsync(Guard.Token))
            {
                using (message)
                {
                    _feed.Publish($"heard.{message.GetString()}", message[1].Span);
                }
            }
        }

        private static async ValueTask AnswerAsync(ServiceRequest request, CancellationToken cancellation)
        {
            string text = System.Text.Encoding.UTF8.GetString(request.Span);
            if (text is "wait")
            {
                await Task.Delay(Timeout.Infinite, cancellation);
            }

            if (text is "fail")
            {
                request.TryFail(300, "as asked");
                return;
            }

            using var reply = new MessageBuilder();
            for (int i = 0; i < request.PartCount; i++)
            {
                reply.Add(request[i].Span);
            }

            await request.ReplyAsync(reply, cancellation);
        }
    }
}
