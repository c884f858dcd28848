using System.Diagnostics;
using System.Text.Json;

namespace ServiceMesh;

/// <summary>One process of the mesh, started again as often as it is wanted.</summary>
internal sealed class MeshProcess(string name, RoleSettings settings) : IDisposable
{
    private RoleStatus? _status;
    private string _complaint = "";
    private Process? _process;
    private Task _reading = Task.CompletedTask;

    public string Name => name;

    public RoleSettings Settings { get; set; } = settings;

    /// <summary>For people.</summary>
    public string State { get; private set; } = "not started";

    /// <summary>What it said last; nothing before its first line, and after its end.</summary>
    public RoleStatus Status => Volatile.Read(ref _status) ?? new RoleStatus { Remark = Volatile.Read(ref _complaint) };

    public bool IsRunning => _process is { HasExited: false };

    public void Start()
    {
        if (IsRunning)
        {
            return;
        }

        string self = Environment.ProcessPath!;
        var start = new ProcessStartInfo(self)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        if (string.Equals(Path.GetFileNameWithoutExtension(self), "dotnet", StringComparison.Ordinal))
        {
            start.ArgumentList.Add(typeof(MeshProcess).Assembly.Location);
        }

        start.ArgumentList.Add("role");
        start.ArgumentList.Add(Settings.ToText());
        _process?.Dispose();
        _process = Process.Start(start)!;
        State = "running";
        _reading = Task.WhenAll(ReadStatusAsync(_process), ReadErrorsAsync(_process));
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
            _process?.StandardInput.WriteLine(line);
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
            _process!.StandardInput.Close();
            await EndAsync("ended");
        }
    }

    public void Dispose()
    {
        if (IsRunning)
        {
            _process!.Kill();
        }

        _process?.Dispose();
    }

    private async Task EndAsync(string state)
    {
        await _process!.WaitForExitAsync();
        await _reading;
        Volatile.Write(ref _status, null);
        State = state;
    }

    private async Task ReadStatusAsync(Process process)
    {
        while (await process.StandardOutput.ReadLineAsync() is { } line)
        {
            Volatile.Write(ref _status, JsonSerializer.Deserialize<RoleStatus>(line));
        }
    }

    private async Task ReadErrorsAsync(Process process)
    {
        while (await process.StandardError.ReadLineAsync() is { } line)
        {
            Volatile.Write(ref _complaint, line);
        }
    }
}
