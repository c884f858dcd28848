using System.Diagnostics;
using System.Threading.Channels;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>A process that was started here and ends with this object, whatever happens.</summary>
internal sealed class ChildProcess : IAsyncDisposable
{
    // What a server says between two looks at it; the oldest goes first, so a talkative one cannot fill our memory.
    private const int MaxLines = 1000;
    private const int ErrorLinesKept = 5;

    private readonly Process _process;
    private readonly Channel<string> _lines =
        Channel.CreateBounded<string>(new BoundedChannelOptions(MaxLines) { FullMode = BoundedChannelFullMode.DropOldest });
    private readonly Queue<string> _errors = new();

    private ChildProcess(Process process) => _process = process;

    public int Id => _process.Id;

    public bool HasExited => _process.HasExited;

    /// <summary>The last lines it wrote to standard error, for the message about its failure.</summary>
    public string LastErrors
    {
        get
        {
            lock (_errors)
            {
                return string.Join(" / ", _errors);
            }
        }
    }

    /// <summary>Starts a shell command. The shell replaces itself with the command, so that the process id is the command's own.</summary>
    public static ChildProcess StartShell(string command) => Start(new ProcessStartInfo("/bin/sh", ["-c", "exec " + command]));

    public static ChildProcess Start(ProcessStartInfo info)
    {
        info.RedirectStandardInput = true;
        info.RedirectStandardOutput = true;
        info.RedirectStandardError = true;
        info.UseShellExecute = false;
        var process = new Process { StartInfo = info };
        var child = new ChildProcess(process);
        process.OutputDataReceived += (_, e) => child.OnLine(e.Data);
        process.ErrorDataReceived += (_, e) => child.OnError(e.Data);
        process.Start();
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        return child;
    }

    /// <summary>Starts one that says so with a line that starts with <paramref name="started"/>, and returns it with that line.</summary>
    /// <exception cref="InvalidOperationException">It did not say so in time.</exception>
    public static async Task<(ChildProcess Process, string Line)> StartAsync(
        ProcessStartInfo info, string started, TimeSpan limit, CancellationToken cancellation)
    {
        ChildProcess process = Start(info);
        if (await process.ReadLineAsync(started, limit, cancellation) is { } line)
        {
            return (process, line);
        }

        string errors = process.LastErrors;
        await process.DisposeAsync();
        throw new InvalidOperationException($"{string.Join(' ', info.ArgumentList)} did not start: {errors}");
    }

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
            await foreach (string line in _lines.Reader.ReadAllAsync(deadline.Token))
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

    /// <summary>Waits for the end and its last output; false if the time is over.</summary>
    public async Task<bool> WaitForExitAsync(TimeSpan timeout, CancellationToken cancellation)
    {
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        deadline.CancelAfter(timeout);
        try
        {
            await _process.WaitForExitAsync(deadline.Token);
            return true;
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return false;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill(entireProcessTree: true);
            await _process.WaitForExitAsync(CancellationToken.None);
        }

        _process.Dispose();
    }

    private void OnLine(string? line)
    {
        if (line is null)
        {
            _lines.Writer.TryComplete();
        }
        else
        {
            _lines.Writer.TryWrite(line);
        }
    }

    private void OnError(string? line)
    {
        // The frames of a .NET program's stack would push out what it died of.
        if (string.IsNullOrWhiteSpace(line) || line.StartsWith("   at ", StringComparison.Ordinal))
        {
            return;
        }

        lock (_errors)
        {
            if (_errors.Count == ErrorLinesKept)
            {
                _errors.Dequeue();
            }

            _errors.Enqueue(line.Trim());
        }
    }
}
