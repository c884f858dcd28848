using System.Text.Json;
using Samples;

namespace ServiceMesh;

/// <summary>One process of the mesh, started again as often as it is wanted.</summary>
internal sealed class MeshProcess(string name, RoleSettings settings) : IAsyncDisposable
{
    private RoleStatus? _status;
    private ChildProcess? _process;
    private Task _reading = Task.CompletedTask;

    public string Name => name;

    public RoleSettings Settings { get; set; } = settings;

    /// <summary>For people.</summary>
    public string State { get; private set; } = "not started";

    /// <summary>What it said last; nothing before its first line, and after its end.</summary>
    public RoleStatus Status => Volatile.Read(ref _status) ?? new RoleStatus { Remark = _process?.LastErrors ?? "" };

    public bool IsRunning => _process is { HasExited: false };

    public async Task StartAsync()
    {
        if (!IsRunning)
        {
            await DisposeAsync();
            _process = ChildProcess.Start(ChildProcess.ThisProgram("role", Settings.ToText()));
            State = "running";
            _reading = ReadStatusAsync(_process);
        }
    }

    /// <summary>Ends it at once, as a power failure would.</summary>
    public async Task KillAsync()
    {
        if (IsRunning)
        {
            _process!.Kill();
            await EndAsync("killed");
        }
    }

    /// <summary>Asks a receiver to drain, and waits until it has ended by itself.</summary>
    /// <returns>Its exit code; null: it was not running.</returns>
    public async Task<int?> DrainAsync()
    {
        if (!IsRunning)
        {
            return null;
        }

        State = "draining";
        Send("drain");
        await EndAsync("drained");
        return _process!.ExitCode;
    }

    public void Send(string line)
    {
        try
        {
            _process?.Send(line);
        }
        catch (IOException)
        {
            // It has ended, as its state says.
        }
    }

    /// <summary>Ends its input, and with that the process.</summary>
    public async Task StopAsync()
    {
        if (IsRunning)
        {
            _process!.EndInput();
            await EndAsync("ended");
        }
    }

    public ValueTask DisposeAsync() => _process?.DisposeAsync() ?? ValueTask.CompletedTask;

    private async Task EndAsync(string state)
    {
        await _process!.WaitForExitAsync(Timeout.InfiniteTimeSpan, CancellationToken.None);
        await _reading;
        Volatile.Write(ref _status, null);
        State = state;
    }

    private async Task ReadStatusAsync(ChildProcess process)
    {
        while (await process.ReadLineAsync("", Timeout.InfiniteTimeSpan, CancellationToken.None) is { } line)
        {
            Volatile.Write(ref _status, JsonSerializer.Deserialize<RoleStatus>(line));
        }
    }
}
