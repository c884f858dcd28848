using System.Diagnostics;
using System.Net;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Samples;

/// <summary>
/// The built EchoServer sample as a child process: its lines are awaited one by one, it is stopped by a signal, and never outlives a
/// test.
/// </summary>
internal sealed class EchoProcess : IAsyncDisposable
{
    private const string ReadyPrefix = "READY tcp://";

    /// <summary>
    /// Only reached when something is wrong: starting the runtime takes half a second, ten under a heavily loaded machine.
    /// </summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly Process _process;
    private readonly Task<string> _errors;

    private EchoProcess(ProcessStartInfo start)
    {
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        _process = Process.Start(start)!;
        _errors = _process.StandardError.ReadToEndAsync();
    }

    public static EchoProcess Start(params string[] arguments) => new(new ProcessStartInfo(DotnetPath, [SamplePath, .. arguments]));

    /// <summary>Starts the sample where the user's own folder is another one.</summary>
    public static EchoProcess StartIn(string folder, params string[] arguments)
    {
        var start = new ProcessStartInfo(DotnetPath, [SamplePath, .. arguments]);
        start.Environment["XDG_DATA_HOME"] = folder;
        return new EchoProcess(start);
    }

    /// <summary>Starts the sample on a free local port, and returns it with its endpoint once it listens.</summary>
    public static async Task<(EchoProcess Server, IPEndPoint EndPoint)> ListenAsync(params string[] arguments)
    {
        EchoProcess server = Start(["--endpoint", "tcp://127.0.0.1:0", .. arguments]);
        return (server, await server.ReadReadyAsync());
    }

    /// <summary>Starts the sample in a shell that first lowers the number of descriptors it may have.</summary>
    public static EchoProcess StartWithDescriptors(int limit, params string[] arguments) =>
        new(new ProcessStartInfo("sh", ["-c", $"ulimit -n {limit}; exec \"$0\" \"$@\"", DotnetPath, SamplePath, .. arguments]));

    /// <summary>The next line of standard output; null at its end.</summary>
    public Task<string?> ReadLineAsync()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        return _process.StandardOutput.ReadLineAsync(cancellation).AsTask().WaitAsync(Patience, cancellation);
    }

    /// <summary>The next line, which must be a READY line with an address and a port that is not 0.</summary>
    public async Task<IPEndPoint> ReadReadyAsync()
    {
        string? line = await ReadLineAsync();
        if (line is null)
        {
            Assert.Fail($"The sample ended instead of listening: {(await ExitAsync()).Errors}");
        }

        Assert.StartsWith(ReadyPrefix, line, StringComparison.Ordinal);
        IPEndPoint endPoint = IPEndPoint.Parse(line[ReadyPrefix.Length..]);
        Assert.NotEqual(0, endPoint.Port);
        return endPoint;
    }

    /// <summary>Reads on until a line satisfies the condition.</summary>
    public async Task<string> ReadUntilAsync(Func<string, bool> condition)
    {
        while (await ReadLineAsync() is string line)
        {
            if (condition(line))
            {
                return line;
            }
        }

        Assert.Fail($"The line never came; standard error: {(await ExitAsync()).Errors}");
        return "";
    }

    /// <summary>Sends a signal by its name: TERM or INT.</summary>
    public async Task SignalAsync(string name)
    {
        using Process kill = Process.Start("kill", [$"-{name}", $"{_process.Id}"]);
        await kill.WaitForExitAsync(TestContext.Current.CancellationToken).WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(0, kill.ExitCode);
    }

    /// <summary>Waits for the end of the process, with what is left of its output.</summary>
    public async Task<EchoExit> ExitAsync()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        string output = await _process.StandardOutput.ReadToEndAsync(cancellation).WaitAsync(Patience, cancellation);
        string errors = await _errors.WaitAsync(Patience, cancellation);
        await _process.WaitForExitAsync(cancellation).WaitAsync(Patience, cancellation);
        return new EchoExit(_process.ExitCode, output, errors);
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
            await _process.WaitForExitAsync(CancellationToken.None);
        }

        _process.Dispose();
    }

    private static string DotnetPath => Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet";

    /// <summary>Built with the tests, so it lies beside them: same configuration, same framework.</summary>
    private static string SamplePath { get; } = FindSample();

    private static string FindSample()
    {
        var framework = new DirectoryInfo(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        string sample = Path.Combine(Repository.Root, "samples", "EchoServer");
        string path = Path.Combine(sample, "bin", framework.Parent!.Name, framework.Name, "EchoServer.dll");
        return File.Exists(path) ? path : throw new FileNotFoundException("Build it in the configuration of the tests first.", path);
    }
}

/// <summary>How the sample ended.</summary>
internal sealed record EchoExit(int Code, string Output, string Errors)
{
    /// <summary>
    /// Fails unless the process refused to start the way a program should: exit code 2 and exactly one line on standard error.
    /// </summary>
    public string TheOneErrorLine()
    {
        string line = Assert.Single(Errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.Equal(2, Code);
        Assert.Empty(Output);
        Assert.EndsWith("\n", Errors, StringComparison.Ordinal);
        Assert.StartsWith("EchoServer: ", line, StringComparison.Ordinal);
        return line;
    }
}
