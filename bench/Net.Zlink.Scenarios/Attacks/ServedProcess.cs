using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Samples;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>Starts, stops, resumes and asks a <see cref="ServedCommand"/>.</summary>
internal sealed class ServedProcess : IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    private readonly ChildProcess _process;

    private ServedProcess(ChildProcess process, string endpoint) => (_process, Endpoint) = (process, endpoint);

    public string Endpoint { get; }

    public bool HasExited => _process.HasExited;

    public string LastErrors => _process.LastErrors;

    /// <param name="transport">tcp, ws or ipc.</param>
    /// <param name="heartbeat">Zero: none.</param>
    /// <param name="heapLimit">In bytes. 0: none.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <exception cref="InvalidOperationException">It did not start.</exception>
    public static Task<ServedProcess> StartAsync(string transport, TimeSpan heartbeat, long heapLimit, CancellationToken cancellation) =>
        StartAsync([ServedCommand.Name, "--transport", transport, "--heartbeat",
            heartbeat.TotalMilliseconds.ToString("0", CultureInfo.InvariantCulture)], heapLimit, cancellation);

    /// <param name="arguments">Of this program: a command that says when it is there, and answers lines.</param>
    /// <param name="heapLimit">In bytes. 0: none.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <exception cref="InvalidOperationException">It did not start.</exception>
    public static async Task<ServedProcess> StartAsync(
        IReadOnlyList<string> arguments, long heapLimit, CancellationToken cancellation)
    {
        ProcessStartInfo info = Self.StartInfo(inlineCompletions: false, arguments);
        if (heapLimit > 0)
        {
            info.Environment["DOTNET_GCHeapHardLimit"] = heapLimit.ToString("X", CultureInfo.InvariantCulture);
        }

        (ChildProcess process, string line) = await ChildProcess.StartAsync(info, ServedCommand.Bound, Limit, cancellation);
        return new ServedProcess(process, line[ServedCommand.Bound.Length..]);
    }

    public Task StopAsync(CancellationToken cancellation) => _process.SignalAsync("STOP", cancellation);

    public Task ResumeAsync(CancellationToken cancellation) => _process.SignalAsync("CONT", cancellation);

    /// <returns>Null: it has ended.</returns>
    public async Task<ServedState?> AskAsync(CancellationToken cancellation)
    {
        try
        {
            _process.Send("");
        }
        catch (IOException)
        {
            return null;
        }

        if (await _process.ReadLineAsync(ServedCommand.State, Limit, cancellation) is not { } line)
        {
            return null;
        }

        double[] numbers = [.. line[ServedCommand.State.Length..].Split(' ')
            .Select(static text => double.Parse(text, CultureInfo.InvariantCulture))];
        return new ServedState((long)numbers[0], numbers[1], (long)numbers[2]);
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}

/// <summary>What a server has done so far.</summary>
/// <param name="Received">Messages.</param>
/// <param name="HeapMegabytes">After the pool was trimmed, as it is once its buffers are idle, and a full collection.</param>
/// <param name="Faults">Sends of ten bytes for which there was no memory.</param>
internal sealed record ServedState(long Received, double HeapMegabytes, long Faults);
