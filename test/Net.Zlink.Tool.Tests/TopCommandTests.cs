using System.Diagnostics;
using System.Text.Json;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tool.Tests;

public sealed class TopCommandTests
{
    [Fact]
    public async Task A_table_shows_rates_queues_drops_with_their_cause_and_why_a_peer_is_not_connected()
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { Name = "orders" });
        using DiagnosticsEndpoint diagnostics = context.OpenDiagnostics();
        RouterSocket router = context.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:*");
        DealerSocket dealer = context.CreateDealer().ConnectedTo(endpoint);
        DealerSocket lost = context.CreateDealer().ConnectedTo("tcp://127.0.0.1:1");
        lost.Options.Linger = TimeSpan.Zero;
        lost.Send("waits"u8);
        lost.Send("waits, too"u8); // The other dealer may have one at a time, and the longest queue is above.
        context.CreatePub().TrySend("unheard"u8);
        await using ToolFixture tool = ToolFixture.Start("top", diagnostics.Endpoint, "--once", "--interval", "0.3", "--sort", "queued");
        while (!tool.Ended.IsCompleted)
        {
            await dealer.SendAsync("x", Guard.Token);
            using Message received = await router.ReceiveAsync(Guard.Token);
        }

        Assert.Equal(ExitCode.Done, await tool.Ended);
        string[] lines = tool.Rest.Split('\n');
        Assert.Matches("^.+, process [0-9]+, context orders, up [0-9:.]+, 4 sockets", lines[0]);
        Assert.Matches(@"^3 DEALER tcp://127\.0\.0\.1:1 +0 +0 +0 +0 +0 +2 +0 +1 peer", lines[2]);
        Assert.Contains(lines, static line => line.StartsWith("1 ROUTER", StringComparison.Ordinal)
            && line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[3] is not ("0" or "-"));
        Assert.Contains(lines, static line => line.StartsWith(
            "3 DEALER tcp://127.0.0.1:1: tcp://127.0.0.1:1: not connected: no process listens at 127.0.0.1:1", StringComparison.Ordinal));
        Assert.Contains(lines, static line => line.Contains("4 PUB: dropped: 1 unmatched", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Json_is_a_line_for_each_interval()
    {
        await using var context = new ZlinkContext();
        using DiagnosticsEndpoint diagnostics = context.OpenDiagnostics("tcp://127.0.0.1:*");
        context.CreatePair();
        await using ToolFixture tool = ToolFixture.Start("top", diagnostics.Endpoint, "--json", "--interval", "0.1");
        for (int line = 0; line < 2; line++)
        {
            using JsonDocument answer = JsonDocument.Parse(await tool.LineAsync());
            Assert.Equal("PAIR", answer.RootElement.GetProperty("sockets")[0].GetProperty("type").GetString());
        }
    }

    [Fact]
    public async Task A_program_that_ends_ends_the_table_with_the_reason()
    {
        await using var context = new ZlinkContext();
        DiagnosticsEndpoint diagnostics = context.OpenDiagnostics("tcp://127.0.0.1:*");
        await using ToolFixture tool = ToolFixture.Start("top", diagnostics.Endpoint, "--interval", "0.1");
        await tool.LineAsync();
        diagnostics.Dispose();
        Assert.Equal(ExitCode.Failed, await tool.Ended.Guarded());
        Assert.Contains("no process listens", tool.RestOfErrors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_is_no_diagnostics_endpoint_is_named_as_such()
    {
        await using var context = new ZlinkContext();
        (ToolFixture echo, string stream) = await ToolFixture.ListenAsync("stream", "--bind", "tcp://127.0.0.1:*", "--echo");
        await using (echo)
        {
            foreach (string endpoint in (string[])[context.CreateRouter().Bind("tcp://127.0.0.1:*"), stream])
            {
                (int code, string output, string errors) = await ToolFixture.RunAsync("top", endpoint, "--once");
                Assert.Equal((ExitCode.Failed, ""), (code, output));
                Assert.StartsWith($"zlink: what listens at {endpoint} does not serve diagnostics", errors, StringComparison.Ordinal);
            }
        }
    }

    [Fact]
    public async Task Without_an_endpoint_the_only_process_is_watched_several_are_listed_and_files_of_dead_ones_are_named()
    {
        string folder = Directory.CreateTempSubdirectory("zlink-top-").FullName;
        try
        {
            await using ChildProcess first = Programs.Child("diagnostics").With("XDG_RUNTIME_DIR", folder).Start();
            string endpoint = (await first.ReadLineAsync("READY "))[6..];
            ProgramEnd end = await TopAsync(folder);
            Assert.Equal((ExitCode.Done, ""), (end.Code, end.Errors));
            Assert.Contains("\"context\":\"watched\"", end.Output, StringComparison.Ordinal);

            await using ChildProcess second = Programs.Child("diagnostics").With("XDG_RUNTIME_DIR", folder).Start();
            string other = (await second.ReadLineAsync("READY "))[6..];
            end = await TopAsync(folder);
            Assert.Equal((ExitCode.Usage, "zlink: there are several: name the endpoint of one of them\n"), (end.Code, end.Errors));
            Assert.Contains(endpoint, end.Output, StringComparison.Ordinal);
            Assert.Contains(other, end.Output, StringComparison.Ordinal);

            await first.SignalAsync("KILL");
            await first.EndAsync();
            second.EndInput();
            await second.EndAsync();
            end = await TopAsync(folder);
            Assert.Equal(ExitCode.Failed, end.Code);
            Assert.Contains("context.OpenDiagnostics()", end.Errors, StringComparison.Ordinal);
            Assert.Contains("left by a process that has ended: delete the file", end.Output, StringComparison.Ordinal);
            Assert.DoesNotContain(other, end.Output, StringComparison.Ordinal);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public async Task A_process_whose_own_directory_cannot_be_used_is_found_in_another_one()
    {
        await using ChildProcess process = Programs.Child("diagnostics").With("XDG_RUNTIME_DIR", "/dev/null").Start();
        string endpoint = (await process.ReadLineAsync("READY "))[6..];
        Assert.Contains(endpoint, DiagnosticsEndpoint.Find(), StringComparer.Ordinal);
        process.EndInput();
        await process.EndAsync();
    }

    private static Task<ProgramEnd> TopAsync(string folder)
    {
        string tool = Path.Combine(AppContext.BaseDirectory, "zlink.dll");
        ProcessStartInfo info = Programs.Installed(
            Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", folder, tool, "top", "--once", "--json");
        return info.With("XDG_RUNTIME_DIR", folder).RunAsync();
    }
}
