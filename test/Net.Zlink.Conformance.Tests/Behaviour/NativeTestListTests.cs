using System.Globalization;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>Every test program of the native core 1.3.0 is either a test class of this folder or a line of docs/native-tests.md that says
/// why not.</summary>
public sealed class NativeTestListTests
{
    /// <summary>The test programs under the native core's core/tests, without their endings.</summary>
    public static TheoryData<string> NativeFiles =>
    [
        "test_abstract_ipc", "test_ancillaries", "test_asio_connect", "test_asio_poller", "test_asio_ssl", "test_asio_tcp", "test_asio_ws",
            "test_bind_after_connect_tcp",
        "test_bind_fuzzer", "test_bind_null_fuzzer", "test_bind_src_address", "test_bind_ws_fuzzer", "test_capabilities",
            "test_connect_fuzzer", "test_connect_null_fuzzer",
        "test_connect_resolve", "test_connect_rid", "test_ctx_destroy", "test_ctx_options", "test_diffserv", "test_disconnect_inproc",
            "test_getsockopt_memset",
        "test_heartbeats", "test_hwm_pubsub", "test_immediate", "test_ipc_wildcard", "test_issue_566", "test_last_endpoint",
            "test_many_sockets", "test_msg_ffn",
        "test_msg_flags", "test_pair_inproc", "test_pair_ipc", "test_pair_tcp", "test_pair_tcp_cap_net_admin", "test_probe_router",
            "test_proxy", "test_pub_invert_matching",
        "test_pubsub", "test_pubsub_filter_xpub", "test_reconnect_ivl", "test_reconnect_options", "test_router_handover",
            "test_router_mandatory",
        "test_router_mandatory_hwm", "test_router_multiple_dealers", "test_shutdown_stress", "test_socket_null",
            "test_socket_options_fuzzer", "test_spec_router",
        "test_stream_fastpath", "test_stream_socket", "test_sub_forward", "test_system", "test_timeo", "test_transport_matrix",
            "test_use_fd", "test_xpub_manual",
        "test_xpub_nodrop", "test_xpub_topic", "test_xpub_verbose", "test_xpub_welcome_msg", "test_z85_decode_fuzzer", "test_zmp_metadata",
            "test_zmp_ws_wss",
        "monitoring/test_monitor_enhanced", "routing-id/test_connect_rid_string_alias", "routing-id/test_router_auto_id_format",
            "routing-id/test_stream_routing_id_size",
        "pgm/test_pgm_epgm", "pgm/test_pgm_smoke", "discovery/test_gateway", "discovery/test_gateway_handover",
            "discovery/test_service_discovery",
        "spot/test_spot_pubsub_basic", "spot/test_spot_pubsub_scenario", "scenario/router_router", "scenario/stream",
    ];

    [Theory]
    [MemberData(nameof(NativeFiles))]
    public void A_native_test_program_has_a_class_here_or_a_reason_in_the_documentation(string file)
    {
        string className = ClassNameOf(file);
        bool hasClass = typeof(NativeTestListTests).Assembly.GetTypes()
            .Any(t => string.Equals(t.Name, className, StringComparison.Ordinal) && HasTests(t));
        bool hasReason = Reasons().TryGetValue(file, out string? reason) && reason.Length > 0;
        Assert.True(hasClass || hasReason, $"{file} has neither a class {className} nor a line in docs/native-tests.md");
    }

    [Fact]
    public void The_documentation_names_no_program_that_does_not_exist()
    {
        Assert.Empty(Reasons().Keys.Except(NativeFiles.Select(static row => row.Data), StringComparer.Ordinal));
    }

    /// <summary>xpub_manual is XpubManualTests.</summary>
    private static string ClassNameOf(string file)
    {
        string name = file[(file.LastIndexOf('/') + 1)..];
        name = name.StartsWith("test_", StringComparison.Ordinal) ? name["test_".Length..] : name;
        string title = CultureInfo.InvariantCulture.TextInfo.ToTitleCase(name.Replace('_', ' '));
        return $"{title.Replace(" ", "", StringComparison.Ordinal)}Tests";
    }

    private static bool HasTests(Type type) =>
        type.GetMethods().Any(static m => m.GetCustomAttributes(typeof(FactAttribute), inherit: true).Length > 0);

    /// <summary>The rows "| `program` | reason |".</summary>
    private static Dictionary<string, string> Reasons() => File.ReadLines(Path.Combine(AppContext.BaseDirectory, "native-tests.md"))
        .Select(static line => line.Split('|', StringSplitOptions.TrimEntries))
        .Where(static cells => cells.Length == 4 && cells[1].StartsWith('`'))
        .ToDictionary(static cells => cells[1].Trim('`'), static cells => cells[2], StringComparer.Ordinal);
}
