using System.Diagnostics;

namespace Net.Zlink.Tests.Support;

/// <summary>A program of the system's as the other end of a test; ended with it at the latest.</summary>
internal sealed class ProgramProcess : IAsyncDisposable
{
    private readonly Process _process;
    private readonly Task<string> _errors;

    public ProgramProcess(string program, string folder, params string[] arguments)
    {
        _process = Process.Start(new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = folder,
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        _errors = _process.StandardError.ReadToEndAsync(Guard.Token);
    }

    public System.IO.Stream Input => _process.StandardInput.BaseStream;

    public System.IO.Stream Output => _process.StandardOutput.BaseStream;

    /// <summary>Whether the system has a program of this name.</summary>
    public static bool Exists(string program) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
            .Any(folder => File.Exists(Path.Combine(folder, program)));

    /// <summary>Runs a program to its end. Its exit code, and what it printed.</summary>
    public static async Task<(int Code, string Output)> RunAsync(string program, string folder, params string[] arguments)
    {
        await using var process = new ProgramProcess(program, folder, arguments);
        process.Input.Close();
        string output = await process._process.StandardOutput.ReadToEndAsync(Guard.Token).Guarded();
        await process._process.WaitForExitAsync(Guard.Token).Guarded();
        return (process._process.ExitCode, output + await process._errors.Guarded());
    }

    /// <summary>The next line that begins so.</summary>
    public async Task<string> ReadLineAsync(string prefix)
    {
        while (true)
        {
            string? line = await _process.StandardOutput.ReadLineAsync(Guard.Token).Guarded();
            if (line is null)
            {
                throw new InvalidOperationException($"The program ended before it said \"{prefix}\": {await _errors.Guarded()}");
            }

            if (line.StartsWith(prefix, StringComparison.Ordinal))
            {
                return line;
            }
        }
    }

    public Task<string> ErrorsAsync() => _errors.Guarded();

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill(entireProcessTree: true);
            await _process.WaitForExitAsync(CancellationToken.None).Guarded();
        }

        _process.Dispose();
    }
}
