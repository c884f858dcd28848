using System.Collections.Concurrent;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.FileProviders;
using Net.Zlink.AspNetCore;
using Net.Zlink.Samples.Tests;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests.AspNetCore;

/// <summary>The JavaScript module in Node and in a browser, against sockets of a web application and a receiver.</summary>
public sealed class JavaScriptTests
{
    private const int LongestMinified = 10 * 1024;

    // JavaScript and TypeScript.
    private const string Program = """
        import { Dealer, text } from "net-zlink";

        const dealer = new Dealer(ENDPOINT, { sendLimit: 10 });
        await dealer.send(["hello", new Uint8Array([33])], { signal: AbortSignal.timeout(15000) });
        for await (const parts of dealer) {
          console.log(parts.map(part => text(part)).join(""));
          dealer.close();
        }
        """;

    private static readonly string Module = Path.Combine(Repository.Root, "clients/javascript");

    [Fact]
    public async Task The_JavaScript_module_exchanges_messages_with_our_sockets()
    {
        string? node = Programs.Find("node");
        Assert.SkipWhen(node is null, "node is not installed, so clients/javascript was not tested: install Node 22");
        await using var web = new WebFixture();
        using var sockets = new Served(web.Context);
        await web.StartAsync(sockets.Map);
        ProgramEnd end = await Node(node, Module, "--test", "--test-force-exit", "--test-timeout=50000", "test/zlink.test.js")
            .With("ZLINK_TEST_URL", web.Address)
            .With("ZLINK_TEST_RECEIVER", sockets.Endpoint)
            .RunAsync();
        Assert.True(end.Code == 0, $"{end.Output}\n{end.Errors}");
        Assert.Contains("pass 1", end.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("SKIP", end.Output, StringComparison.Ordinal);
    }

    [SlowFact]
    public async Task The_JavaScript_module_passes_the_same_tests_in_a_browser()
    {
        string? program = Chromium.Find();
        Assert.SkipWhen(program is null, "there is no Chromium here; Debian's package is called chromium");
        await using var web = new WebFixture();
        using var sockets = new Served(web.Context);
        await web.StartAsync(sockets.Map);
        await using Chromium browser = await Chromium.StartAsync(program);
        Chromium.Tab page = await browser.OpenAsync($"{web.App.Urls.Single()}/test/browser.html"
            + $"?ZLINK_TEST_URL={Uri.EscapeDataString(web.Address)}&ZLINK_TEST_RECEIVER={Uri.EscapeDataString(sockets.Endpoint)}");
        await page.UntilAsync("/PASSED|FAILED/.test(document.body.innerText)");
        Assert.StartsWith("PASSED 1", await page.RunAsync("document.body.innerText"), StringComparison.Ordinal);
    }

    [SlowFact]
    public async Task The_package_of_npm_works_where_it_is_installed_has_types_and_is_small()
    {
        (string? node, string? npm) = (Programs.Find("node"), Programs.Find("npm"));
        Assert.SkipWhen(node is null || npm is null, "node or npm is not installed: install Node 22");
        await using var web = new WebFixture();
        using var sockets = new Served(web.Context);
        await web.StartAsync(sockets.Map);
        string folder = Directory.CreateTempSubdirectory("zlink-npm-").FullName;
        try
        {
            string program = Program.Replace("ENDPOINT", $"\"{web.Address}/jobs\"", StringComparison.Ordinal);
            await File.WriteAllTextAsync(Path.Combine(folder, "package.json"), """{ "type": "module" }""", Guard.Token);
            await File.WriteAllTextAsync(Path.Combine(folder, "program.js"), program, Guard.Token);
            await File.WriteAllTextAsync(Path.Combine(folder, "typed.ts"), program, Guard.Token);
            string package = Assert.Single((await NpmAsync("pack", "--silent", "--pack-destination", folder, Module)).Output.Split('\n',
                StringSplitOptions.RemoveEmptyEntries));
            ProgramEnd installed = await NpmAsync("install", "--offline", $"./{package}");
            Assert.True(installed.Code == 0, installed.Errors);
            ProgramEnd end = await Node(node, folder, "program.js").RunAsync();
            Assert.True(end is { Code: 0, Output: "hello!\n" }, $"{end.Output}{end.Errors}");

            ProgramEnd tools = await NpmAsync("install", "--prefer-offline", "typescript@5", "esbuild@0");
            Assert.SkipUnless(tools.Code == 0, $"npm could not install typescript and esbuild: {tools.Errors}");
            ProgramEnd types = await Node(node, folder, "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--module", "nodenext",
                "--target", "es2022", "--lib", "es2022,dom", "typed.ts").RunAsync();
            Assert.True(types.Code == 0, types.Output);
            ProgramEnd minified = await Programs.Installed(Path.Combine(folder, "node_modules/.bin/esbuild"), folder, "--minify",
                "--format=esm", "node_modules/net-zlink/zlink.js").RunAsync();
            Assert.InRange(minified.Output.Length, LongestMinified / 2, LongestMinified);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }

        Task<ProgramEnd> NpmAsync(string command, params string[] arguments) =>
            Programs.Installed(npm, folder, [command, "--no-audit", "--no-fund", .. arguments]).RunAsync();
    }

    // Node 20 has a WebSocket behind a switch; later versions ignore the switch.
    private static System.Diagnostics.ProcessStartInfo Node(string node, string folder, params string[] arguments) =>
        Programs.Installed(node, folder, arguments).With("NODE_OPTIONS", "--experimental-websocket --no-warnings");

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
            app.UseStaticFiles(new StaticFileOptions { FileProvider = new PhysicalFileProvider(Module) });
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
