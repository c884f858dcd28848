using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Threading.Channels;

namespace Samples;

/// <summary>A program in a process of its own, which ends with this object at the latest. What the program prints is taken from it at once,
/// so that it never waits for a reader.</summary>
internal sealed class ChildProcess : IAsyncDisposable
{
    // Of its output and of its errors; the oldest line goes first, so a talkative program cannot fill our memory.
    private const int MaxLines = 10_000;
    private const int LastErrorLines = 5;

    private readonly Process _process;
    private readonly Channel<string> _lines =
        Channel.CreateBounded<string>(new BoundedChannelOptions(MaxLines) { FullMode = BoundedChannelFullMode.DropOldest });
    private readonly ConcurrentQueue<string> _errors = new();
    private readonly Task _reading;

    private ChildProcess(ProcessStartInfo info, bool hasLines)
    {
        info.RedirectStandardInput = true;
        info.RedirectStandardOutput = true;
        info.RedirectStandardError = true;
        info.UseShellExecute = false;
        _process = Process.Start(info)!;
        _reading = Task.WhenAll(hasLines ? ReadLinesAsync() : Task.CompletedTask, ReadErrorsAsync());
    }

    public int Id => _process.Id;

    public bool HasExited => _process.HasExited;

    /// <summary>After its end.</summary>
    public int ExitCode => _process.ExitCode;

    /// <summary>All that it wrote to its standard error until now.</summary>
    public string Errors => string.Concat(_errors.Select(static line => line + "\n"));

    /// <summary>The last lines of its standard error, for the message about its failure. The frames of a .NET program's stack would push
    /// out what it died of.</summary>
    public string LastErrors => string.Join(" / ", _errors
        .Where(static line => !string.IsNullOrWhiteSpace(line) && !line.StartsWith("   at ", StringComparison.Ordinal))
        .TakeLast(LastErrorLines).Select(static line => line.Trim()));

    public Stream Input => _process.StandardInput.BaseStream;

    /// <summary>Its output as bytes, of a process that was started by <see cref="StartForBytes"/>.</summary>
    public Stream Output => _process.StandardOutput.BaseStream;

    public static ChildProcess Start(ProcessStartInfo info) => new(info, hasLines: true);

    public static ChildProcess StartForBytes(ProcessStartInfo info) => new(info, hasLines: false);

    /// <summary>Starts a shell command. The shell replaces itself with the command, so that the process id is the command's own.</summary>
    public static ChildProcess StartShell(string command) => Start(new ProcessStartInfo("/bin/sh", ["-c", "exec " + command]));

    /// <summary>Starts one that says so with a line that starts with <paramref name="started"/>, and returns it with that line.</summary>
    /// <exception cref="InvalidOperationException">It did not say so in time.</exception>
    public static async Task<(ChildProcess Process, string Line)> StartAsync(
        ProcessStartInfo info, string started, TimeSpan limit, CancellationToken cancellation)
    {
        ChildProcess process = Start(info);
        if (await process.ReadLineAsync(started, limit, cancellation).ConfigureAwait(false) is { } line)
        {
            return (process, line);
        }

        string errors = process.LastErrors;
        await process.DisposeAsync().ConfigureAwait(false);
        throw new InvalidOperationException($"{string.Join(' ', info.ArgumentList)} did not start: {errors}");
    }

    /// <summary>This program once more, whether it was started by its own file or by <c>dotnet X.dll</c>.</summary>
    public static ProcessStartInfo ThisProgram(params IEnumerable<string> arguments)
    {
        string program = Environment.ProcessPath ?? throw new InvalidOperationException("This process has no path.");
        bool isRuntime = string.Equals(Path.GetFileNameWithoutExtension(program), "dotnet", StringComparison.OrdinalIgnoreCase);
        return new ProcessStartInfo(program, isRuntime ? [typeof(ChildProcess).Assembly.Location, .. arguments] : arguments);
    }

    /// <exception cref="IOException">It has ended.</exception>
    public void Send(string line) => _process.StandardInput.WriteLine(line);

    /// <summary>Nothing more will be sent: children that read until the end take it as the word to end.</summary>
    public void EndInput()
    {
        try
        {
            _process.StandardInput.Close();
        }
        catch (IOException)
        {
            // It has ended already.
        }
    }

    /// <summary>The next line of output that starts with <paramref name="prefix"/>; null if the process ended before or the time is
    /// over.</summary>
    public async Task<string?> ReadLineAsync(string prefix, TimeSpan timeout, CancellationToken cancellation)
    {
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        deadline.CancelAfter(timeout);
        try
        {
            await foreach (string line in _lines.Reader.ReadAllAsync(deadline.Token).ConfigureAwait(false))
            {
                if (line.StartsWith(prefix, StringComparison.Ordinal))
                {
                    return line;
                }
            }
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
        }

        return null;
    }

    /// <summary>The rest of its output, until it ends.</summary>
    public async Task<string> ReadToEndAsync(CancellationToken cancellation)
    {
        List<string> lines = await _lines.Reader.ReadAllAsync(cancellation).ToListAsync(cancellation).ConfigureAwait(false);
        return string.Concat(lines.Select(static line => line + "\n"));
    }

    /// <summary>Waits for the end and its last output; false if the time is over.</summary>
    public async Task<bool> WaitForExitAsync(TimeSpan timeout, CancellationToken cancellation)
    {
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        deadline.CancelAfter(timeout);
        try
        {
            await _process.WaitForExitAsync(deadline.Token).ConfigureAwait(false);
            await _reading.WaitAsync(deadline.Token).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return false;
        }
    }

    /// <param name="name">As kill has it: TERM, STOP.</param>
    /// <param name="cancellation">Ends the wait for kill.</param>
    /// <exception cref="InvalidOperationException">There is no such signal, or the process has ended.</exception>
    public async Task SignalAsync(string name, CancellationToken cancellation)
    {
        using var kill = Process.Start("kill", [$"-{name}", _process.Id.ToString(CultureInfo.InvariantCulture)]);
        await kill.WaitForExitAsync(cancellation).ConfigureAwait(false);
        if (kill.ExitCode != 0)
        {
            throw new InvalidOperationException($"The signal {name} could not be sent to process {_process.Id}.");
        }
    }

    /// <summary>Ends it at once.</summary>
    public void Kill() => _process.Kill(entireProcessTree: true);

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            Kill();
            await _process.WaitForExitAsync(CancellationToken.None).ConfigureAwait(false);
        }

        _process.Dispose();
    }

    private async Task ReadLinesAsync()
    {
        try
        {
            while (await _process.StandardOutput.ReadLineAsync(CancellationToken.None).ConfigureAwait(false) is { } line)
            {
                _lines.Writer.TryWrite(line);
            }
        }
        finally
        {
            _lines.Writer.TryComplete();
        }
    }

    private async Task ReadErrorsAsync()
    {
        while (await _process.StandardError.ReadLineAsync(CancellationToken.None).ConfigureAwait(false) is { } line)
        {
            _errors.Enqueue(line);
            if (_errors.Count > MaxLines)
            {
                _errors.TryDequeue(out _);
            }
        }
    }
}
