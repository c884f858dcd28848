using System.Text.RegularExpressions;
using Net.Zlink.Tests.PublicApi;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>docs/PortingGuide.md leaves out no function of the C API and nothing of its .NET binding.</summary>
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

    [GeneratedRegex(@"^\|[^|\n]*\|", RegexOptions.Multiline, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex FirstCells();

    [GeneratedRegex("`[^`]*`", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Code();

    [GeneratedRegex(@"\w+", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Name();
}
