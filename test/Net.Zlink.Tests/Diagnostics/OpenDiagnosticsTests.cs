using System.Globalization;
using System.Net.Sockets;
using System.Text.Json;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Diagnostics;

public sealed class OpenDiagnosticsTests
{
    [Fact]
    public async Task An_answer_has_the_figures_of_each_socket_and_peer_and_neither_payloads_nor_secrets_nor_its_own_socket()
    {
        await using var fixture = new ContextFixture();
        using DiagnosticsEndpoint diagnostics = fixture.Context.OpenDiagnostics();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer().ConnectedTo(router.Bind("tcp://127.0.0.1:*"));
        SubSocket sub = fixture.Context.CreateSub().ConnectedTo("ws://127.0.0.1:1/feed?token=secret");
        dealer.Send("payload"u8);
        using Message received = await router.ReceiveAsync(Guard.Token);
        StreamSocket stream = fixture.Context.CreateStream();
        using RawPeer raw = await fixture.ConnectAsync(stream.Bind("tcp://127.0.0.1:*"));
        await raw.SendFrameAsync(1, 2, 3);
        await fixture.UntilAsync(() => stream.GetStatistics().UnreadMessages == 1);

        string text = await AskAsync(fixture, diagnostics);
        Assert.DoesNotContain("secret", text, StringComparison.Ordinal);
        Assert.DoesNotContain("payload", text, StringComparison.Ordinal);
        using JsonDocument answer = JsonDocument.Parse(text);
        JsonElement[] sockets = [.. answer.RootElement.GetProperty("sockets").EnumerateArray()];
        string?[] types = [.. sockets.Select(static one => one.GetProperty("type").GetString())];
        Assert.Equal(["ROUTER", "DEALER", "SUB", "STREAM"], types);
        Assert.Equal(Environment.ProcessId, answer.RootElement.GetProperty("processId").GetInt32());
        Assert.Equal(1, sockets[0].GetProperty("peers")[0].GetProperty("messagesReceived").GetInt64());
        Assert.Equal(1, sockets[1].GetProperty("statistics").GetProperty("writtenMessages").GetInt64());
        Assert.Equal(8 + "payload".Length, sockets[1].GetProperty("peers")[0].GetProperty("bytesSent").GetInt64());
        Assert.Equal(1, sockets[3].GetProperty("streamPeers")[0].GetProperty("statistics").GetProperty("unreadMessages").GetInt64());
        sub.Dispose();
    }

    [Fact]
    public async Task The_number_of_a_socket_stays_when_others_come_and_go()
    {
        await using var fixture = new ContextFixture();
        using DiagnosticsEndpoint diagnostics = fixture.Context.OpenDiagnostics();
        PubSocket first = fixture.Context.CreatePub();
        fixture.Context.CreatePair();
        Assert.Equal(["1 PUB", "2 PAIR"], await NumbersAsync());
        first.Dispose();
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().Sockets == 2);
        fixture.Context.CreateSub();
        Assert.Equal(["2 PAIR", "3 SUB"], await NumbersAsync());

        async Task<string[]> NumbersAsync()
        {
            using JsonDocument answer = JsonDocument.Parse(await AskAsync(fixture, diagnostics));
            return
            [
                .. answer.RootElement.GetProperty("sockets").EnumerateArray()
                    .Select(static one => $"{one.GetProperty("id")} {one.GetProperty("type")}"),
            ];
        }
    }

    [Fact]
    public async Task An_endpoint_without_a_name_is_a_file_of_this_user_alone_that_is_found_until_it_ends()
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { Name = "orders/eu" });
        DiagnosticsEndpoint diagnostics = context.OpenDiagnostics();
        string file = diagnostics.Endpoint["ipc://".Length..];
        string process = string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}-");
        Assert.StartsWith(process, Path.GetFileName(file), StringComparison.Ordinal);
        Assert.EndsWith("-orders-eu.sock", file, StringComparison.Ordinal);
        if (!OperatingSystem.IsWindows())
        {
            const UnixFileMode ReadAndWrite = UnixFileMode.UserRead | UnixFileMode.UserWrite;
            Assert.Equal(ReadAndWrite, File.GetUnixFileMode(file));
            Assert.Equal(ReadAndWrite | UnixFileMode.UserExecute, File.GetUnixFileMode(Path.GetDirectoryName(file)!));
        }

        Assert.Contains(diagnostics.Endpoint, DiagnosticsEndpoint.Find(), StringComparer.Ordinal);
        diagnostics.Dispose();
        Assert.DoesNotContain(diagnostics.Endpoint, DiagnosticsEndpoint.Find(), StringComparer.Ordinal);
    }

    [Fact]
    public async Task Diagnostics_open_once_and_again_after_their_end()
    {
        await using var context = new ZlinkContext();
        using (DiagnosticsEndpoint first = context.OpenDiagnostics("tcp://127.0.0.1:*"))
        {
            Assert.Contains(first.Endpoint, Assert.Throws<InvalidOperationException>(() => context.OpenDiagnostics()).Message,
                StringComparison.Ordinal);
            Assert.Throws<ZlinkException>(() => new ZlinkContext().OpenDiagnostics(first.Endpoint));
        }

        using DiagnosticsEndpoint second = context.OpenDiagnostics("tcp://localhost:*");
        Assert.Equal(1, context.GetStatistics().Sockets);
    }

    [Theory]
    [InlineData("tcp://*:*", "allowRemote")]
    [InlineData("tcp://0.0.0.0:5999", "allowRemote")]
    [InlineData("tcp://example.com:5999", "allowRemote")]
    [InlineData("ws://127.0.0.1:*", "ipc:// or tcp://")]
    [InlineData("inproc://facts", "ipc:// or tcp://")]
    public async Task An_endpoint_that_others_could_read_is_refused_and_leaves_nothing_open(string endpoint, string advice)
    {
        await using var context = new ZlinkContext();
        ArgumentException refusal = Assert.Throws<ArgumentException>(() => context.OpenDiagnostics(endpoint));
        Assert.Contains(advice, refusal.Message, StringComparison.Ordinal);
        Assert.Equal(0, context.GetStatistics().Sockets);
        using DiagnosticsEndpoint asked = context.OpenDiagnostics("tcp://*:*", allowRemote: true);
        Assert.StartsWith("tcp://0.0.0.0:", asked.Endpoint, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_endpoint_that_cannot_be_bound_leaves_nothing_open()
    {
        await using var context = new ZlinkContext();
        Assert.Throws<ZlinkException>(() => context.OpenDiagnostics("nonsense"));
        Assert.Throws<ZlinkException>(() => context.OpenDiagnostics("ipc:///no/such/directory/x"));
        context.OpenDiagnostics().Dispose();
    }

    [Fact]
    public async Task A_long_request_and_a_silent_reader_are_ended()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        using DiagnosticsEndpoint diagnostics = fixture.Context.OpenDiagnostics();
        using RawPeer silent = await fixture.ConnectAsync(diagnostics.Endpoint);
        using RawPeer talker = await fixture.ConnectAsync(diagnostics.Endpoint);
        await talker.SendFrameAsync(new byte[65]);
        Assert.Null(await EndOf(talker));
        time.Advance(TimeSpan.FromSeconds(61));
        Assert.Null(await EndOf(silent));
    }

    [Fact]
    public async Task A_ninth_reader_is_ended_and_eight_are_served()
    {
        await using var fixture = new ContextFixture();
        using DiagnosticsEndpoint diagnostics = fixture.Context.OpenDiagnostics();
        for (int reader = 0; reader < 8; reader++)
        {
            RawPeer served = await fixture.ConnectAsync(diagnostics.Endpoint);
            await served.SendFrameAsync(1);
            Assert.NotNull(await served.ReadFrameAsync());
        }

        Assert.Null(await EndOf(await fixture.ConnectAsync(diagnostics.Endpoint)));
    }

    [Fact]
    public async Task A_reader_that_asks_and_does_not_read_is_ended_and_holds_back_neither_others_nor_the_context()
    {
        await using var fixture = new ContextFixture();
        DiagnosticsEndpoint diagnostics = fixture.Context.OpenDiagnostics();
        using RawPeer standing = await fixture.ConnectAsync(diagnostics.Endpoint);
        await Assert.ThrowsAsync<SocketException>(async () =>
        {
            while (true)
            {
                await standing.SendFrameAsync(1);
            }
        });
        Assert.StartsWith("{", await AskAsync(fixture, diagnostics), StringComparison.Ordinal);
        using RawPeer idle = await fixture.ConnectAsync(diagnostics.Endpoint);
        Assert.True((await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token)).Drained);
        Assert.Null(await EndOf(idle));
        Assert.Throws<ObjectDisposedException>(() => fixture.Context.OpenDiagnostics());
    }

    private static async Task<string> AskAsync(ContextFixture fixture, DiagnosticsEndpoint diagnostics)
    {
        using RawPeer reader = await fixture.ConnectAsync(diagnostics.Endpoint);
        await reader.SendFrameAsync(1);
        return System.Text.Encoding.UTF8.GetString((await reader.ReadFrameAsync())!);
    }

    /// <summary>A reset is an end, too.</summary>
    private static async Task<byte[]?> EndOf(RawPeer reader)
    {
        try
        {
            return await reader.ReadFrameAsync();
        }
        catch (SocketException)
        {
            return null;
        }
    }
}
