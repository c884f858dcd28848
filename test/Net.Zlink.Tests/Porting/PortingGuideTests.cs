using System.Text.RegularExpressions;
using Net.Zlink.Tests.PublicApi;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>docs/PortingGuide.md and docs/patterns.md: their snippets compile, and the former leaves no native function out.</summary>
public sealed partial class PortingGuideTests
{
    // The groups of functions in the native header, but for those of services.
    private static readonly string[] Functions =
    [
        "errno", "strerror", "version", "ctx_new", "ctx_term", "ctx_shutdown", "ctx_set", "ctx_get", "msg_init", "msg_init_size", "msg_init_data", "msg_send", "msg_recv", "msg_close", "msg_move", "msg_copy",
        "msg_data", "msg_size", "msg_more", "msg_get", "msg_set", "msg_gets", "msgv_close", "socket", "close", "setsockopt", "getsockopt", "bind", "connect", "unbind", "disconnect", "send", "send_const", "recv",
        "socket_monitor", "socket_monitor_open", "monitor_recv", "socket_peer_count", "socket_peers", "socket_peer_info", "socket_peer_routing_id", "poll", "proxy", "proxy_steerable", "has", "atomic_counter_*",
        "timers_*", "stopwatch_*", "sleep", "threadstart", "threadclose", "registry_*", "discovery_*", "gateway_*", "receiver_*", "spot_*",
    ];

    private static string Guide => File.ReadAllText(Path.Combine(SourceTree.Root, "docs", "PortingGuide.md"));

    [Theory]
    [InlineData("PortingGuide.md", "PortingSnippets.cs", 8)]
    [InlineData("patterns.md", "PatternSnippets.cs", 6)]
    public void Every_snippet_of_ours_stands_in_the_compiled_ones(string page, string source, int least)
    {
        string compiled = Normalize(File.ReadAllText(Path.Combine(SourceTree.Root, "test", "Net.Zlink.Tests", "Porting", source)));
        string[] snippets = [.. Snippet().Matches(File.ReadAllText(Path.Combine(SourceTree.Root, "docs", page))).Select(static m => m.Groups["code"].Value)];
        Assert.True(snippets.Length >= least);
        Assert.All(snippets, snippet => Assert.Contains(Normalize(snippet), compiled, StringComparison.Ordinal));
        Assert.All(snippets, static snippet => Assert.DoesNotContain("Guard", snippet, StringComparison.Ordinal)); // Which readers do not have.
    }

    [Fact]
    public void Every_native_function_has_its_line() =>
        Assert.All(Functions, function => Assert.Matches($@"(?m)^\| [^|]*`{Regex.Escape(function)}`[^|]*\|", Guide));

    private static string Normalize(string code) => string.Join('\n', code.Split('\n').Select(static line => line.Trim()).Where(static line => line.Length > 0));

    [GeneratedRegex("```csharp\n(?<code>.*?)```", RegexOptions.Singleline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Snippet();
}
