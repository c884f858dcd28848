using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>Against Node: its built-in WebSocket client, and the package ws as client and as server, which the test installs into a folder
/// of its own.</summary>
public sealed class NodeTests : IAsyncLifetime
{
    // A client that speaks STREAM: it sends frames of several sizes, wants each back, says ECHOED, and then the code that ends the
    // connection.
    private const string Client = """
        const socket = make(process.argv[2]);
        socket.binaryType = 'arraybuffer';
        const sizes = [0, 1, 121, 122, 1000, 65531, 65532, 300000];
        let rest = Buffer.alloc(0), turn = 0;
        const frame = n => { const b = Buffer.alloc(4 + n); b.writeUInt32BE(n); for (let i = 0; i < n; i++) b[4 + i] = i * 7; return b; };
        socket.onopen = () => socket.send(frame(sizes[0]));
        socket.onmessage = e => {
          rest = Buffer.concat([rest, Buffer.from(e.data)]);
          const want = frame(sizes[turn] ?? 0);
          if (rest.length < want.length) return;
          if (!rest.subarray(0, want.length).equals(want)) { console.log('WRONG ' + turn); process.exit(1); }
          rest = rest.subarray(want.length);
          if (++turn < sizes.length) { socket.send(frame(sizes[turn])); return; }
          console.log('ECHOED');
          if (process.argv[3]) socket.close(+process.argv[3], 'bye');
        };
        socket.onclose = e => { console.log('CLOSED ' + e.code + ' ' + e.wasClean); process.exit(0); };
        socket.onerror = e => console.log('ERROR ' + (e.message ?? ''));
        """;

    private const string Server = """
        const { WebSocketServer } = require('ws');
        const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: true });
        server.on('listening', () => console.log('PORT ' + server.address().port));
        server.on('connection', (socket, request) => {
          console.log('CONNECTED ' + request.url);
          socket.on('message', data => socket.send(data));
          socket.on('close', code => console.log('CLOSED ' + code));
          if (request.url === '/leave') socket.close(4001, 'go');
        });
        """;

    private readonly string _folder = Directory.CreateTempSubdirectory("zlink-node-").FullName;

    public async ValueTask InitializeAsync()
    {
        await File.WriteAllTextAsync(Path.Combine(_folder, "builtin.js"), "const make = url => new WebSocket(url);\n" + Client,
            Guard.Token);
        await File.WriteAllTextAsync(Path.Combine(_folder, "package.js"), "const make = url => new (require('ws'))(url);\n" + Client,
            Guard.Token);
        await File.WriteAllTextAsync(Path.Combine(_folder, "server.js"), Server, Guard.Token);
    }

    public ValueTask DisposeAsync()
    {
        Directory.Delete(_folder, recursive: true);
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData("builtin.js")]
    [SlowInlineData("package.js")]
    public async Task Nodes_client_echoes_and_sees_code_1000_from_Disconnect(string script)
    {
        await PrepareAsync(script);
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        var handler = TestHandler.Echo();
        string endpoint = server.Bind("ws://127.0.0.1:0/chat", handler);
        await using ChildProcess node = Start(script, endpoint);
        StreamPeer peer = await handler.NextConnectedAsync();
        await node.ReadLineAsync("ECHOED");
        server.Disconnect(peer.Id);
        Assert.Equal("CLOSED 1000 true", await node.ReadLineAsync("CLOSED"));
        await fixture.UntilAsync(() => server.GetStatistics().ClosedConnections == 1);
    }

    [Theory]
    [InlineData("builtin.js")]
    [SlowInlineData("package.js")]
    public async Task Nodes_client_sees_code_1001_when_the_context_ends(string script)
    {
        await PrepareAsync(script);
        var context = new ZlinkContext();
        StreamSocket server = context.CreateStream();
        await using ChildProcess node = Start(script, server.Bind("ws://127.0.0.1:0", TestHandler.Echo()));
        await node.ReadLineAsync("ECHOED");
        await context.DisposeAsync().Guarded();
        Assert.Equal("CLOSED 1001 true", await node.ReadLineAsync("CLOSED"));
    }

    [Theory]
    [InlineData("builtin.js", 1000)]
    [SlowInlineData("builtin.js", 4321)]
    [SlowInlineData("package.js", 1000)]
    [InlineData("package.js", 4321)]
    public async Task A_close_of_Nodes_client_is_answered_with_the_same_code(string script, int code)
    {
        await PrepareAsync(script);
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        var handler = TestHandler.Echo();
        await using ChildProcess node = Start(script, server.Bind("ws://127.0.0.1:0", handler),
            code.ToString(System.Globalization.CultureInfo.InvariantCulture));
        await node.ReadLineAsync("ECHOED");
        Assert.Equal($"CLOSED {code} true", await node.ReadLineAsync("CLOSED"));
        Assert.Equal(DisconnectReason.Remote, (await handler.NextDisconnectedAsync()).Reason);
    }

    [Fact]
    public async Task The_package_as_server_echoes_and_sees_our_close()
    {
        await PrepareAsync("server.js");
        await using ChildProcess node = Start("server.js");
        string port = (await node.ReadLineAsync("PORT "))["PORT ".Length..];
        await using var fixture = new StreamFixture();
        StreamSocket client = fixture.Context.CreateStream();
        uint id = await client.ConnectAsync($"ws://127.0.0.1:{port}/chat?a=b", Guard.Token).Guarded();
        await client.NextConnectedAsync();
        Assert.Equal("CONNECTED /chat?a=b", await node.ReadLineAsync("CONNECTED"));
        foreach (int size in new[] { 0, 1, 121, 122, 65_531, 65_532, 300_000, 1_000_000 })
        {
            byte[] payload = Wire.Pattern(size);
            await client.To(id).SendAsync(payload, Guard.Token).Guarded();
            Wire.AssertSame(payload, await client.NextDataAsync(id));
        }

        client.Disconnect(id);
        await client.NextDisconnectedAsync();
        Assert.Equal("CLOSED 1000", await node.ReadLineAsync("CLOSED"));

        // And the other way: it closes.
        id = await client.ConnectAsync($"ws://127.0.0.1:{port}/leave", Guard.Token).Guarded();
        await client.NextConnectedAsync();
        Assert.Equal((id, DisconnectReason.Remote), await client.NextDisconnectedAsync());
        Assert.Equal("CLOSED 4001", await node.ReadLineAsync("CLOSED"));
    }

    private async Task PrepareAsync(string script)
    {
        Assert.SkipUnless(Programs.Find("node") is not null, "NOT TESTED HERE: the program node is not installed");
        if (string.Equals(script, "builtin.js", StringComparison.Ordinal))
        {
            ProgramEnd type = await Programs.Installed("node", _folder, "--experimental-websocket", "-p", "typeof WebSocket").RunAsync();
            Assert.SkipUnless(type.Output.StartsWith("function", StringComparison.Ordinal),
                "NOT TESTED HERE: this node has no WebSocket of its own (since 20.10)");
            return;
        }

        Assert.SkipUnless(Programs.Find("npm") is not null, "NOT TESTED HERE: the program npm is not installed");
        ProgramEnd end = await Programs.Installed(
            "npm", _folder, "install", "--no-audit", "--no-fund", "--prefer-offline", "ws@8").RunAsync();
        Assert.SkipUnless(end.Code == 0, $"NOT TESTED HERE: npm could not install ws: {end.Output}{end.Errors}");
    }

    // Behind a flag in Node 20, built in since.
    private ChildProcess Start(string script, params string[] arguments) =>
        Programs.Installed("node", _folder, string.Equals(script, "builtin.js", StringComparison.Ordinal)
            ? ["--experimental-websocket", script, .. arguments] : [script, .. arguments]).Start();
}
