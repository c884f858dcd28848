using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;
using Net.Zlink.Scenarios.Tests.Support;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Load;

/// <summary>A server that does something wrong fails, and in the column that says what.</summary>
public sealed class VerdictTests
{
    private static readonly int Connections = Runs.Short.Connections;

    [Fact]
    public async Task A_right_server_passes_and_every_message_has_its_reply()
    {
        ResultRow row = (await RunAsync(Fault.None)).Row;
        Assert.Equal("PASS", row.PassFail);
        Assert.Equal(Connections, row.ConnectSuccess);
        Assert.True(row.Recv >= Runs.Short.InFlight * Connections, $"{row.Recv} replies");
        Assert.Equal(row.Sent, row.Recv);
        Assert.True(row.Throughput > 0);
        Assert.True(row.P50 > 0 && row.P50 <= row.P95 && row.P95 <= row.P99, row.ToResultLine());
        Assert.Equal(0, row.IncompleteRatio);
    }

    [Fact]
    public async Task A_dropped_message_is_incomplete_and_the_drain_times_out()
    {
        ResultRow row = (await RunAsync(Fault.Drops)).Row;
        Assert.Equal("FAIL", row.PassFail);
        Assert.Equal(Connections, row.Sent - row.Recv);
        Assert.True(row.IncompleteRatio > 0);
        Assert.Equal(1, row.DrainTimeout);
        Assert.Equal(0, row.GatingViolation);
        Assert.Equal("", row.ErrorsByErrno);
    }

    [Fact]
    public async Task A_reply_out_of_order_is_a_gating_violation_and_nothing_else()
    {
        LoadReport report = await RunAsync(Fault.Reorders);
        Assert.Equal("FAIL", report.Row.PassFail);
        Assert.Equal(Connections, report.Row.GatingViolation);
        Assert.Equal(Connections, report.Client.Gating.OutOfOrder);
        AssertOtherwiseComplete(report.Row);
    }

    [Fact]
    public async Task A_second_reply_is_a_gating_violation_and_nothing_else()
    {
        LoadReport report = await RunAsync(Fault.Duplicates);
        Assert.Equal("FAIL", report.Row.PassFail);
        Assert.Equal(Connections, report.Row.GatingViolation);
        Assert.Equal(Connections, report.Client.Gating.Duplicate);
        AssertOtherwiseComplete(report.Row);
    }

    [Theory]
    [InlineData(Fault.Invents)]
    [InlineData(Fault.Confuses)]
    public async Task A_reply_to_nothing_is_a_gating_violation_and_nothing_else(Fault fault)
    {
        LoadReport report = await RunAsync(fault);
        Assert.Equal("FAIL", report.Row.PassFail);
        Assert.Equal(Connections, report.Row.GatingViolation);
        Assert.Equal(Connections, report.Client.Gating.Unrequested);
        AssertOtherwiseComplete(report.Row);
    }

    [Theory]
    [InlineData(Fault.ChangesTheEnd)]
    [InlineData(Fault.ChangesTheMiddle)]
    public async Task A_changed_reply_is_a_gating_violation_and_not_received(Fault fault)
    {
        LoadReport report = await RunAsync(fault);
        Assert.Equal("FAIL", report.Row.PassFail);
        Assert.True(report.Row.GatingViolation >= Connections, report.Row.ToResultLine());
        Assert.Equal(report.Row.GatingViolation, report.Client.Gating.Corrupt);
        Assert.Equal(report.Client.Gating.Corrupt, report.Row.Sent - report.Row.Recv);
        Assert.Equal(0, report.Row.DrainTimeout);
        Assert.Equal("", report.Row.ErrorsByErrno);
    }

    [Fact]
    public async Task A_reply_of_another_length_ends_its_connection_with_a_gating_violation()
    {
        LoadReport report = await RunAsync(Fault.Lengthens);
        Assert.Equal("FAIL", report.Row.PassFail);
        Assert.Equal(Connections, report.Row.GatingViolation);
        Assert.True(report.Row.IncompleteRatio > 0);
        Assert.Equal(0, report.Row.DrainTimeout);
    }

    [Fact]
    public async Task A_server_that_stalls_is_incomplete_and_the_drain_times_out()
    {
        ResultRow row = (await RunAsync(Fault.Stalls)).Row;
        Assert.Equal("FAIL", row.PassFail);
        Assert.Equal(1, row.DrainTimeout);
        Assert.Equal(Connections * Runs.Short.InFlight, row.Sent - row.Recv);
        Assert.Equal(0, row.GatingViolation);
        Assert.Equal("", row.ErrorsByErrno);
    }

    [Theory]
    [InlineData(Fault.Resets)]
    [InlineData(Fault.Ends)]
    public async Task A_server_that_ends_connections_fails_by_errno_and_is_not_waited_for(Fault fault)
    {
        LoadReport report = await RunAsync(fault);
        Assert.Equal("FAIL", report.Row.PassFail);
        Assert.Equal(Connections, report.Client.LostConnections);

        // A connection may notice it by its next read or by its next write: two numbers, one error each.
        Assert.Equal(Connections, report.Row.ErrorsByErrno.Split(';')
            .Sum(static error => int.Parse(error.Split(':')[1], CultureInfo.InvariantCulture)));
        Assert.True(report.Row.IncompleteRatio > 0);
        Assert.Equal(0, report.Row.DrainTimeout);
        Assert.Equal(0, report.Row.GatingViolation);
    }

    [Fact]
    public async Task Connections_to_a_port_without_a_listener_fail_and_are_counted_by_errno()
    {
        // Bound and not listening: nobody else gets the port meanwhile.
        using var bound = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        bound.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        string endpoint = $"tcp://127.0.0.1:{((IPEndPoint)bound.LocalEndPoint!).Port}";
        ResultRow row = (await Runs.LoadAsync(endpoint, Runs.Short)).Row;
        Assert.Equal("FAIL", row.PassFail);
        Assert.Equal(Connections, row.ConnectFail);
        Assert.Equal(0, row.ConnectSuccess);
        Assert.Equal($"{new SocketException((int)SocketError.ConnectionRefused).NativeErrorCode}:{Connections}", row.ErrorsByErrno);
    }

    [Fact]
    public async Task A_server_that_never_answers_a_handshake_fails_by_connect_timeout()
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        string endpoint = $"tls://127.0.0.1:{((IPEndPoint)silent.LocalEndpoint).Port}";
        ResultRow row = (await Runs.LoadAsync(endpoint, Runs.Short with { Transport = "tls", ConnectTimeoutSeconds = 0.2 })).Row;
        Assert.Equal("FAIL", row.PassFail);
        Assert.Equal(Connections, row.ConnectTimeout);
        Assert.Equal(0, row.ConnectFail);
    }

    [Fact]
    public async Task Connections_alone_pass_in_s1_and_one_that_ends_meanwhile_fails()
    {
        ScenarioSettings settings = Runs.Short with { Scenario = Scenario.S1, InFlight = 0, Connections = 50 };
        await using var server = new FaultyServer(Fault.None);
        ResultRow row = (await Runs.LoadAsync(server.Endpoint, settings)).Row;
        Assert.Equal("PASS", row.PassFail);
        Assert.Equal(50, row.ConnectSuccess);

        // One message each at the end, to see that somebody is there.
        Assert.Equal((50, 50), (row.Sent, row.Recv));

        // Accepts and closes.
        using var rude = new TcpListener(IPAddress.Loopback, 0);
        rude.Start();
        Task closing = Task.Run(async () => (await rude.AcceptSocketAsync(TestContext.Current.CancellationToken)).Dispose(),
            TestContext.Current.CancellationToken);
        ResultRow lost = (await Runs.LoadAsync($"tcp://127.0.0.1:{((IPEndPoint)rude.LocalEndpoint).Port}", settings
            with
        { Connections = 1 })).Row;
        await closing;
        Assert.Equal("FAIL", lost.PassFail);
        Assert.Equal(1, lost.ConnectSuccess);
        Assert.NotEmpty(lost.ErrorsByErrno);
    }

    [Fact]
    public async Task Connections_that_the_server_never_accepted_fail_in_s1_with_a_sentence()
    {
        // The kernel makes them: they lie in the queue of a listener that accepts nothing.
        using var deaf = new TcpListener(IPAddress.Loopback, 0);
        deaf.Start();
        ScenarioSettings settings = Runs.Short with { Scenario = Scenario.S1, InFlight = 0, DrainTimeoutSeconds = 0.2 };
        LoadReport report = await Runs.LoadAsync($"tcp://127.0.0.1:{((IPEndPoint)deaf.LocalEndpoint).Port}", settings);
        Assert.Equal("FAIL", report.Row.PassFail);
        Assert.Equal((Connections, Connections, 0), (report.Row.ConnectSuccess, report.Row.Sent, report.Row.Recv));
        Assert.Contains($"{Connections} of {Connections} connections did not answer", report.Fault, StringComparison.Ordinal);
    }

    private static async Task<LoadReport> RunAsync(Fault fault)
    {
        // Where replies stay away the drain's limit is what ends the run; long enough for those that come.
        bool isIncomplete = fault is Fault.Drops or Fault.Stalls;
        await using var server = new FaultyServer(fault);
        return await Runs.LoadAsync(server.Endpoint, isIncomplete ? Runs.Short with { DrainTimeoutSeconds = 2 } : Runs.Short);
    }

    private static void AssertOtherwiseComplete(ResultRow row)
    {
        Assert.Equal(row.Sent, row.Recv);
        Assert.Equal(0, row.DrainTimeout);
        Assert.Equal("", row.ErrorsByErrno);
    }
}
