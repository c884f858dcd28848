using Net.Zlink.Scenarios.Results;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Results;

/// <summary>The columns never change: what reads them was written elsewhere.</summary>
public sealed class ResultRowTests
{
    private static readonly ResultRow Good = new()
    {
        ScenarioId = "net-zlink-s2",
        Transport = "tcp",
        Ccu = 10_000,
        InFlight = 30,
        Size = 1024,
        ConnectSuccess = 10_000,
        Sent = 2_000_000,
        Recv = 2_000_000,
        Throughput = 1_234_567.891,
        P50 = 1.5,
        P95 = 2.25,
        P99 = 1234.5678,
    };

    [Fact]
    public void The_csv_header_is_the_definition() => Assert.Equal(
        "scenario_id,transport,ccu,inflight,size,connect_success,connect_fail,connect_timeout,sent,recv,incomplete_ratio,"
        + "throughput,p50,p95,p99,errors_by_errno,pass_fail",
        ResultRow.CsvHeader);

    [Fact]
    public void A_csv_line_has_a_value_for_each_column() => Assert.Equal(
        "net-zlink-s2,tcp,10000,30,1024,10000,0,0,2000000,2000000,0.000000,1234567.89,1.50,2.25,1234.57,,PASS",
        Good.ToCsvLine());

    [Fact]
    public void The_result_line_is_the_definition() => Assert.Equal(
        "RESULT scenario=net-zlink-s2 transport=tcp ccu=10000 size=1024 inflight=30 connect_success=10000 connect_fail=0 "
            + "connect_timeout=0 sent=2000000 recv=2000000 incomplete_ratio=0.000000 throughput=1234567.89 p50_us=1.50 p95_us=2.25 "
            + "p99_us=1234.57 drain_timeout=0 gating_violation=0 pass_fail=PASS",
        Good.ToResultLine());

    [Fact]
    public void The_metric_line_is_the_csv_as_pairs()
    {
        ResultRow row = Good with { Recv = 1_999_990, ErrorsByErrno = "32:1;104:2" };
        string[] words = row.ToMetricLine().Split(' ');
        Assert.Equal("METRIC", words[0]);
        Assert.Equal(ResultRow.CsvHeader.Split(','), words[1..].Select(static word => word.Split('=')[0]), StringComparer.Ordinal);
        Assert.Equal(row.ToCsvLine().Split(','), words[1..].Select(static word => word.Split('=')[1]), StringComparer.Ordinal);
        Assert.Contains(" errors_by_errno=32:1;104:2 pass_fail=FAIL", row.ToMetricLine(), StringComparison.Ordinal);
        Assert.Contains(" incomplete_ratio=0.000005 ", row.ToMetricLine(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_result_row_without_faults_passes() => Assert.Equal("PASS", Good.PassFail);

    [Fact]
    public void A_result_row_fails_for_each_kind_of_fault()
    {
        ResultRow[] bad =
        [
            Good with { ConnectFail = 1 },
            Good with { ConnectTimeout = 1 },
            Good with { ConnectSuccess = 9_999 },
            Good with { Recv = 1_999_999 },
            Good with { DrainTimeout = 1 },
            Good with { GatingViolation = 1 },
            Good with { ErrorsByErrno = "104:1" },
            Good with { Sent = 0, Recv = 0 },
        ];
        Assert.All(bad, static row => Assert.Equal("FAIL", row.PassFail));
        Assert.All(bad, static row => Assert.EndsWith(",FAIL", row.ToCsvLine(), StringComparison.Ordinal));
        Assert.All(bad, static row => Assert.EndsWith(" pass_fail=FAIL", row.ToResultLine(), StringComparison.Ordinal));
    }
}
