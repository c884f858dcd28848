using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>What the load generator does to a server.</summary>
/// <param name="Name">What the case is called.</param>
/// <param name="Connections">Connections at once.</param>
/// <param name="Size">Payload bytes.</param>
/// <param name="InFlight">Messages on their way per connection; 0: none are sent.</param>
/// <param name="IsIdle">No load generator: connections are made, nothing is sent, and the server's processor time is taken.</param>
internal sealed record LoadCase(string Name, int Connections, int Size, int InFlight, bool IsIdle = false)
{
    // 9,900 and not 10,000: with both sides on one machine this leaves descriptors for everything else below the usual limit of 20,000.
    private const int Many = 9_900;
    private const int KiB = 1024;

    // What a process needs beside its connections.
    private const int OtherFiles = 200;

    public static IReadOnlyList<LoadCase> Presets { get; } =
    [
        new("s2", Many, KiB, 30),
        new("small", 100, 64, 30),
        new("s0", 1, KiB, 1),
        new("connect", Many, KiB, 0),
        new("idle", Many, KiB, 0, IsIdle: true),
    ];

    public static string Known => string.Join(", ", Presets.Select(p => $"{p.Name} ({p.Shape})"));

    public string Shape => IsIdle ? $"{Connections} connections, nothing sent" : InFlight == 0 ? $"{Connections} connections, connect only"
        : $"{Connections}x{Size}x{InFlight}";

    /// <summary>What the case is run for.</summary>
    public Metric Own => IsIdle ? Metric.Idle : InFlight == 0 ? Metric.Connect : Metric.Rate;

    /// <summary>Whether a run of the case can have the figure.</summary>
    public bool Has(Metric metric)
    {
        bool isOfIdle = metric == Metric.Idle || metric == Metric.Held;
        bool isOfConnecting = metric == Metric.Connect || metric == Metric.Peak;
        return IsIdle ? isOfIdle : InFlight == 0 ? isOfConnecting : !isOfIdle && metric != Metric.Latency;
    }

    /// <summary>A preset's name, or CONNECTIONSxSIZExINFLIGHT.</summary>
    public static LoadCase Parse(string text)
    {
        if (Presets.FirstOrDefault(p => string.Equals(p.Name, text, StringComparison.OrdinalIgnoreCase)) is { } preset)
        {
            return preset;
        }

        string[] parts = text.Split('x');
        return parts.Length == 3 && TryNumber(parts[0], out int connections) && TryNumber(parts[1], out int size)
            && TryNumber(parts[2], out int inFlight) && connections > 0
            ? new LoadCase(text, connections, size, inFlight)
            : throw new RequestException($"There is no case '{text}'. Use {Known}, or CONNECTIONSxSIZExINFLIGHT such as 1000x1024x30.");
    }

    /// <summary>Whether the bar is about this case: the one that it names, or any that has its figure.</summary>
    public bool IsMeantBy(Bar bar) => (bar.Case is null || string.Equals(Name, bar.Case, StringComparison.OrdinalIgnoreCase))
        && Has(bar.Metric);

    /// <summary>A bar that is about nothing would pass for one that is met.</summary>
    /// <exception cref="RequestException">It is about none of the cases.</exception>
    public static void CheckMeant(Bar bar, IReadOnlyCollection<LoadCase> cases)
    {
        if (cases.Any(what => what.IsMeantBy(bar)))
        {
            return;
        }

        bool isRun = bar.Case is null || cases.Any(what => string.Equals(what.Name, bar.Case, StringComparison.OrdinalIgnoreCase));
        throw new RequestException(isRun
            ? $"The bar {bar} is about a figure that {(bar.Case is null ? "no case of this call has" : "its case does not have")}: with "
                + $"load there are rate, p50, p99, connect, cpu and peak; in connect, connect and peak; in idle, idle and held."
            : $"The bar {bar} is about a case that is not run; add --case {bar.Case}.");
    }

    public void CheckLimits()
    {
        int limit = ProcFile.OpenFileLimit();
        long needed = (long)Connections + OtherFiles;
        if (needed > limit)
        {
            throw new RequestException(
                $"Case {Name} needs {needed} open files a process and the limit is {limit}: raise it with 'ulimit -n {needed}' first.");
        }
    }

    private static bool TryNumber(string text, out int number) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number);
}
