using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>Which processors the server gets and which the client, so that neither runs on the other's.</summary>
/// <param name="Server">As taskset takes them; null if not pinned.</param>
/// <param name="Client">Likewise.</param>
/// <param name="Words">For the settings.</param>
internal sealed record Pinning(string? Server, string? Client, string Words)
{
    // With fewer, one of the two would have a single one: a server that has only one shard is another program.
    private const int Least = 4;

    /// <summary>Processors that the server may use.</summary>
    public int ServerProcessors => Server is null ? Environment.ProcessorCount : Parse(Server).Count;

    /// <summary>The usual choice: each half of what there is.</summary>
    public static Pinning Auto()
    {
        IReadOnlyList<int> allowed = Allowed();
        if (allowed.Count < Least)
        {
            return new Pinning(null, null, $"not pinned: {allowed.Count} processors, at least {Least} are needed");
        }

        if (!HasTaskset())
        {
            return new Pinning(null, null, "not pinned: there is no taskset here");
        }

        int half = allowed.Count / 2;
        return Of(Format(allowed.Take(half)), Format(allowed.Skip(half)));
    }

    public static Pinning Off() => new(null, null, "not pinned: --pin off");

    /// <summary>SERVER/CLIENT, each a list as taskset takes it: 0-3/4-7.</summary>
    public static Pinning Parse(string text, Func<Pinning> auto)
    {
        switch (text)
        {
            case "auto":
                return auto();
            case "off":
                return Off();
            default:
                string[] halves = text.Split('/');
                if (halves.Length != 2)
                {
                    throw new RequestException($"--pin takes auto, off, or SERVER/CLIENT such as 0-3/4-7, not '{text}'.");
                }

                if (!HasTaskset())
                {
                    throw new RequestException("--pin needs taskset (util-linux), which is not here.");
                }

                IReadOnlyList<int> allowed = Allowed();
                return halves.SelectMany(Parse).All(allowed.Contains) ? Of(halves[0], halves[1])
                    : throw new RequestException($"--pin names processors that are not there: {Format(allowed)} are.");
        }
    }

    /// <summary>The numbers of a list such as 0-3,8.</summary>
    internal static IReadOnlyList<int> Parse(string list)
    {
        var numbers = new List<int>();
        foreach (string part in list.Split(',', StringSplitOptions.TrimEntries))
        {
            string[] ends = part.Split('-');
            if (ends.Length > 2 || !int.TryParse(ends[0], NumberStyles.None, CultureInfo.InvariantCulture, out int first)
                || !int.TryParse(ends[^1], NumberStyles.None, CultureInfo.InvariantCulture, out int last) || last < first)
            {
                throw new RequestException($"'{list}' is no list of processors such as 0-3,8.");
            }

            numbers.AddRange(Enumerable.Range(first, last - first + 1));
        }

        return numbers;
    }

    private static Pinning Of(string server, string client) => new(server, client, $"server on {server}, client on {client}");

    private static string Format(IEnumerable<int> numbers) => string.Join(',', numbers);

    private static bool HasTaskset() =>
        OperatingSystem.IsLinux() && (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':')
            .Any(static folder => File.Exists(Path.Combine(folder, "taskset")));

    private static IReadOnlyList<int> Allowed()
    {
        const string Status = "/proc/self/status";
        const string Name = "Cpus_allowed_list:";
        string? line = File.Exists(Status) ? File.ReadLines(Status)
            .FirstOrDefault(static line => line.StartsWith(Name, StringComparison.Ordinal)) : null;
        return line is null ? [.. Enumerable.Range(0, Environment.ProcessorCount)] : Parse(line[Name.Length..].Trim());
    }
}
