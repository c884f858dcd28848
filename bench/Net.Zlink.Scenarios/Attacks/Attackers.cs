using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Samples;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A process of peers that attack.</summary>
internal sealed class Attackers : IAsyncDisposable
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);

    private readonly ChildProcess _process;

    private Attackers(ChildProcess process) => _process = process;

    /// <summary>Starts them, and returns when all are at work.</summary>
    /// <exception cref="InvalidOperationException">They did not start.</exception>
    public static async Task<Attackers> StartAsync(string kind, string transport, string port, int count, CancellationToken cancellation)
    {
        (ChildProcess process, _) = await ChildProcess.StartAsync(
            Self.StartInfo(inlineCompletions: false, AttackerCommand.Name, "--kind", kind, "--transport", transport, "--port", port,
                "--count", count.ToString(CultureInfo.InvariantCulture)),
            AttackerCommand.Started, StartLimit, cancellation);
        return new Attackers(process);
    }

    /// <summary>Ends them.</summary>
    /// <returns>What they did: bytes or connects, all in all.</returns>
    /// <exception cref="InvalidOperationException">They had failed.</exception>
    public async Task<long> EndAsync(CancellationToken cancellation)
    {
        _process.EndInput();
        string? line = await _process.ReadLineAsync(AttackerCommand.Did, StartLimit, cancellation);
        return line is null ? throw new InvalidOperationException($"the attackers failed: {_process.LastErrors}")
            : long.Parse(line[AttackerCommand.Did.Length..], CultureInfo.InvariantCulture);
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
