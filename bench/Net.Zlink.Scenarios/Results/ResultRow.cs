using System.Globalization;

namespace Net.Zlink.Scenarios.Results;

/// <summary>The columns that never change: a line of metrics.csv, a RESULT line and a METRIC line.</summary>
internal sealed record ResultRow
{
    public const string Pass = "PASS";
    public const string Fail = "FAIL";

    public const string CsvHeader =
        "scenario_id,transport,ccu,inflight,size,connect_success,connect_fail,connect_timeout,sent,recv,incomplete_ratio,"
        + "throughput,p50,p95,p99,errors_by_errno,pass_fail";

    /// <summary>stack-scenario, such as net-zlink-s2: the rounds of a stack have the same id, in the order in which they ran.</summary>
    public required string ScenarioId { get; init; }

    public required string Transport { get; init; }

    public required int Ccu { get; init; }

    public required int InFlight { get; init; }

    public required int Size { get; init; }

    public long ConnectSuccess { get; init; }

    public long ConnectFail { get; init; }

    public long ConnectTimeout { get; init; }

    /// <summary>Messages sent in the whole run, warm-up and drain included.</summary>
    public long Sent { get; init; }

    /// <summary>Right replies in the whole run.</summary>
    public long Recv { get; init; }

    /// <summary>Share of what was sent that has no right reply at the end of the drain.</summary>
    public double IncompleteRatio => Sent == 0 ? 0 : (double)(Sent - Recv) / Sent;

    /// <summary>Replies per second of the measured window; in s1, connections per second.</summary>
    public double Throughput { get; init; }

    /// <summary>Microseconds; in s1, of making one connection.</summary>
    public double P50 { get; init; }

    public double P95 { get; init; }

    public double P99 { get; init; }

    /// <summary>1 if the drain timeout ended the run.</summary>
    public int DrainTimeout { get; init; }

    /// <summary>Breaches of the protocol: replies to nothing, out of order, corrupt; more in flight than allowed.</summary>
    public long GatingViolation { get; init; }

    /// <summary>Socket errors by the system's number, as number:count;number:count in ascending order. Empty if there was none.</summary>
    public string ErrorsByErrno { get; init; } = "";

    /// <summary>Whether the run counts: nothing failed, nothing is missing, nothing was wrong.</summary>
    public string PassFail =>
        ConnectFail == 0 && ConnectTimeout == 0 && ConnectSuccess == Ccu && Sent == Recv && DrainTimeout == 0 && GatingViolation == 0
            && ErrorsByErrno.Length == 0 && (InFlight == 0 || Recv > 0)
            ? Pass
            : Fail;

    public bool Passed => string.Equals(PassFail, Pass, StringComparison.Ordinal);

    /// <summary>The line for people and scripts.</summary>
    public string ToResultLine() => string.Create(
        CultureInfo.InvariantCulture,
        $"RESULT scenario={ScenarioId} transport={Transport} ccu={Ccu} size={Size} inflight={InFlight} connect_success={ConnectSuccess} "
            + $"connect_fail={ConnectFail} connect_timeout={ConnectTimeout} sent={Sent} recv={Recv} "
            + $"incomplete_ratio={IncompleteRatio:F6} throughput={Throughput:F2} p50_us={P50:F2} p95_us={P95:F2} p99_us={P99:F2} "
            + $"drain_timeout={DrainTimeout} gating_violation={GatingViolation} pass_fail={PassFail}");

    /// <summary>The columns of metrics.csv as key=value.</summary>
    public string ToMetricLine() => "METRIC " + string.Join(' ', CsvHeader.Split(',').Zip(CsvFields(), (name, value) => $"{name}={value}"));

    public string ToCsvLine() => string.Join(',', CsvFields());

    private string[] CsvFields() =>
    [
        ScenarioId,
        Transport,
        Text(Ccu),
        Text(InFlight),
        Text(Size),
        Text(ConnectSuccess),
        Text(ConnectFail),
        Text(ConnectTimeout),
        Text(Sent),
        Text(Recv),
        IncompleteRatio.ToString("F6", CultureInfo.InvariantCulture),
        Text(Throughput),
        Text(P50),
        Text(P95),
        Text(P99),
        ErrorsByErrno,
        PassFail,
    ];

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static string Text(double number) => number.ToString("F2", CultureInfo.InvariantCulture);
}
