using System.Text.RegularExpressions;
using System.Xml.Linq;
using Net.Zlink.Tests.PublicApi;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>The snippets of README and docs compile, and docs/PortingGuide.md leaves out no function of the C API and
/// nothing of its .NET binding.</summary>
public sealed partial class PortingGuideTests
{
    // The groups of functions in the native header, but for those of services.
    private static readonly string[] Functions =
    [
        "errno", "strerror", "version", "ctx_new", "ctx_term", "ctx_shutdown", "ctx_set", "ctx_get", "msg_init", "msg_init_size",
            "msg_init_data", "msg_send", "msg_recv", "msg_close", "msg_move", "msg_copy",
        "msg_data", "msg_size", "msg_more", "msg_get", "msg_set", "msg_gets", "msgv_close", "socket", "close", "setsockopt", "getsockopt",
            "bind", "connect", "unbind", "disconnect", "send", "send_const", "recv",
        "socket_monitor", "socket_monitor_open", "monitor_recv", "socket_peer_count", "socket_peers", "socket_peer_info",
            "socket_peer_routing_id", "poll", "proxy", "proxy_steerable", "has", "atomic_counter_*",
        "timers_*", "stopwatch_*", "sleep", "threadstart", "threadclose", "registry_*", "discovery_*", "gateway_*", "receiver_*", "spot_*",
    ];

    // The binding's public types with their members, but for those of services. A type without members here is an enum whose values have
    // another home, or all of which one row speaks of.
    private static readonly (string Type, string[] Members)[] Binding =
    [
        ("Context", ["SetOption", "GetOption", "Shutdown", "Dispose"]),
        ("ContextOption", []),
        ("DisconnectReason", []),
        ("ErrorCode", []),
        ("Message", ["Size", "More", "ToArray", "AsReadOnlySpan", "CopyTo", "TryCopyTo", "FromBytes", "GetProperty", "SetProperty",
            "GetPropertyString", "Dispose"]),
        ("MonitorEventInfo", ["Event", "Value", "RoutingId", "LocalAddress", "RemoteAddress"]),
        ("MonitorSocket", ["Receive", "Dispose"]),
        ("PollEvent", ["Socket", "Tag", "Events", "Revents"]),
        ("PollEvents", ["PollIn", "PollOut", "PollErr", "PollPri"]),
        ("Poller", ["Add", "AddFd", "Remove", "RemoveFd", "Wait"]),
        ("ProtocolError", []),
        ("ReceiveFlags", []),
        ("SendFlags", []),
        ("Socket",
        [
            "Handle", "Bind", "Connect", "Unbind", "Disconnect", "Send", "TrySend", "SendConst", "Receive", "TryReceive", "ReceiveMessage",
                "SetOption", "GetOption", "GetOptionBytes", "GetOptionString",
            "Monitor", "MonitorOpen", "Dispose",
        ]),
        ("SocketEvent", []),
        ("SocketOption", []),
        ("SocketType", []),
        ("ZlinkException", ["Errno", "FromLastError", "ThrowIfError"]),
        ("ZlinkVersion", ["Get"]),
    ];

    private static string Guide => File.ReadAllText(Path.Combine(SourceTree.Root, "docs", "PortingGuide.md"));

    [Theory]
    [InlineData("PortingGuide.md", "PortingSnippets.cs", 8)]
    [InlineData("patterns.md", "*PatternSnippets.cs", 17)]
    public void Every_snippet_of_ours_stands_in_the_compiled_ones(string page, string sources, int least)
    {
        string[] folders = [Path.Combine("Net.Zlink.Tests", "Porting"), Path.Combine("Net.Zlink.Services.Tests", "Spot")];
        string[] files = [.. folders.SelectMany(folder => Directory.GetFiles(Path.Combine(SourceTree.Root, "test", folder), sources))];
        string compiled = string.Join('\n', files.Select(static file => Normalize(File.ReadAllText(file))));
        string[] snippets = [.. Snippet().Matches(File.ReadAllText(Path.Combine(SourceTree.Root, "docs", page)))
            .Select(static m => m.Groups["code"].Value)];
        Assert.True(snippets.Length >= least);
        Assert.All(snippets, snippet => Assert.Contains(Normalize(snippet), compiled, StringComparison.Ordinal));
        // Which readers do not have.
        Assert.All(snippets, static snippet => Assert.DoesNotContain("Guard", snippet, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("README.md", "ReadmeSnippets.cs", 2)]
    [InlineData("docs/stream.md", "StreamSnippets.cs", 3)]
    public void Every_paragraph_of_a_whole_program_stands_in_the_compiled_ones(string page, string source, int least)
    {
        string compiled = Normalize(File.ReadAllText(Path.Combine(SourceTree.Root, "test", "Net.Zlink.Tests", "Porting", source)));
        string[] snippets = [.. Snippet().Matches(File.ReadAllText(Path.Combine(SourceTree.Root, page)))
            .Select(static m => m.Groups["code"].Value)];
        Assert.True(snippets.Length >= least);
        // A program's usings and types stand elsewhere in a class.
        Assert.All(snippets.SelectMany(static snippet => UsingLine().Replace(snippet, "").Split("\n\n")),
            paragraph => Assert.Contains(Normalize(paragraph), compiled, StringComparison.Ordinal));
    }

    [Fact]
    public void Every_example_of_the_XML_docs_stands_in_the_compiled_ones()
    {
        string file = Path.Combine(SourceTree.Root, "test", "Net.Zlink.Tests", "Porting", "ExampleSnippets.cs");
        string compiled = Normalize(File.ReadAllText(file));
        string[] examples = [.. XDocument.Load(Path.Combine(AppContext.BaseDirectory, "Net.Zlink.xml")).Descendants("example")
            .Select(static example => example.Value)
            .Where(static code => !code.Contains("JsonSerializerContext", StringComparison.Ordinal))]; // A generator completes that class.
        Assert.True(examples.Length >= 18);
        Assert.All(examples, example => Assert.Contains(Normalize(example), compiled, StringComparison.Ordinal));
    }

    [Fact]
    public void Every_native_function_has_its_line() =>
        Assert.All(Functions, function => Assert.Matches($@"(?m)^\| [^|]*`{Regex.Escape(function)}`[^|]*\|", Guide));

    [Fact]
    public void Every_type_and_member_of_the_native_binding_has_its_line()
    {
        string section = Guide[Guide.IndexOf("## The .NET binding", StringComparison.Ordinal)..];
        string[][] rows = [.. FirstCells().Matches(section).Select(static row => NamesIn(row.Value))];
        IEnumerable<string> missing = Binding.SelectMany(
            static one => one.Members.Length == 0 ? [(one.Type, Member: one.Type)]
            : one.Members.Select(member => (one.Type, Member: member)))
            .Where(name => !rows.Any(row => row.Contains(name.Type, StringComparer.Ordinal)
                && row.Contains(name.Member, StringComparer.Ordinal)))
            .Select(static name => $"{name.Type}.{name.Member}");
        Assert.Empty(missing);
    }

    /// <summary>The names in a cell's code: `Socket.Send(..., SendFlags)` has three.</summary>
    private static string[] NamesIn(string cell) =>
        [.. Code().Matches(cell).SelectMany(static code => Name().Matches(code.Value)).Select(static name => name.Value)];

    private static string Normalize(string code) =>
        string.Join('\n', code.Split('\n').Select(static line => line.Trim()).Where(static line => line.Length > 0));

    [GeneratedRegex("```csharp\n(?<code>.*?)```", RegexOptions.Singleline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Snippet();

    [GeneratedRegex(@"^using [\w.]+;\n", RegexOptions.Multiline, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex UsingLine();

    [GeneratedRegex(@"^\|[^|\n]*\|", RegexOptions.Multiline, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex FirstCells();

    [GeneratedRegex("`[^`]*`", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Code();

    [GeneratedRegex(@"\w+", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Name();
}
