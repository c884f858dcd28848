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

    public string Shape => IsIdle ? $"{Connections} connections, nothing sent" : InFlight == 0 ? $"{Connections} connections, connect only" : $"{Connections}x{Size}x{InFlight}";

    /// <summary>A preset's name, or CONNECTIONSxSIZExINFLIGHT.</summary>
    public static LoadCase Parse(string text)
    {
        if (Presets.FirstOrDefault(p => string.Equals(p.Name, text, StringComparison.OrdinalIgnoreCase)) is { } preset)
        {
            return preset;
        }

        string[] parts = text.Split('x');
        return parts.Length == 3 && TryNumber(parts[0], out int connections) && TryNumber(parts[1], out int size) && TryNumber(parts[2], out int inFlight) && connections > 0
            ? new LoadCase(text, connections, size, inFlight)
            : throw new RequestException($"There is no case '{text}'. Use {Known}, or CONNECTIONSxSIZExINFLIGHT such as 1000x1024x30.");
    }

    public void CheckLimits()
    {
        int limit = ProcFile.OpenFileLimit();
        if (Connections + OtherFiles > limit)
        {
            throw new RequestException($"Case {Name} needs {Connections + OtherFiles} open files a process and the limit is {limit}: raise it with 'ulimit -n {Connections + OtherFiles}' first.");
        }
    }

    private static bool TryNumber(string text, out int number) => int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number);
}
