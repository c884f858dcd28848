using System.Diagnostics;
using System.Globalization;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>The program Net.Zlink.Tests.Child in a process of its own, with limits that would end the test process.</summary>
internal sealed class ChildProcess : IAsyncDisposable
{
    private readonly Process _process;
    private readonly Task<string> _errors;

    private ChildProcess(ProcessStartInfo start)
    {
        start.RedirectStandardInput = true;
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        _process = Process.Start(start)!;
        _errors = _process.StandardError.ReadToEndAsync(Guard.Token);
    }

    /// <summary>Starts the child with so many descriptors at most (ulimit -n).</summary>
    /// <param name="limit">The limit.</param>
    /// <param name="arguments">What it is to be; nothing: an echo server.</param>
    public static ChildProcess WithDescriptors(int limit, params string[] arguments)
    {
        var start = new ProcessStartInfo("bash");
        start.ArgumentList.Add("-c");
        start.ArgumentList.Add(string.Create(CultureInfo.InvariantCulture, $"ulimit -n {limit}; exec \"$0\" \"$@\""));
        start.ArgumentList.Add(Muxer);
        return Start(start, arguments);
    }

    /// <summary>Starts the child with the runtime's inline completions on or off, and one polling thread.</summary>
    public static ChildProcess WithInlineCompletions(bool on, params string[] arguments)
    {
        var start = new ProcessStartInfo(Muxer);
        start.Environment["DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS"] = on ? "1" : "0";
        start.Environment["DOTNET_SYSTEM_NET_SOCKETS_THREAD_COUNT"] = "1";
        return Start(start, arguments);
    }

    /// <summary>Starts the child with a managed heap of so many bytes at most.</summary>
    public static ChildProcess WithHeap(long limit, params string[] arguments)
    {
        var start = new ProcessStartInfo(Muxer);
        start.Environment["DOTNET_GCHeapHardLimit"] = limit.ToString("X", CultureInfo.InvariantCulture);
        return Start(start, arguments);
    }

    public static ChildProcess WithArguments(params string[] arguments) => Start(new ProcessStartInfo(Muxer), arguments);

    /// <param name="name">As kill has it: STOP, CONT.</param>
    public async Task SignalAsync(string name)
    {
        using var kill = Process.Start("kill", [$"-{name}", _process.Id.ToString(CultureInfo.InvariantCulture)]);
        await kill.WaitForExitAsync(Guard.Token).Guarded();
        Assert.Equal(0, kill.ExitCode);
    }

    /// <summary>Reads lines up to the first that begins so, and returns it.</summary>
    public async Task<string> ReadLineAsync(string prefix)
    {
        while (true)
        {
            string? line = await _process.StandardOutput.ReadLineAsync(Guard.Token).Guarded();
            if (line is null)
            {
                throw new InvalidOperationException($"The child ended before it said \"{prefix}\": {await _errors.Guarded()}");
            }

            if (line.StartsWith(prefix, StringComparison.Ordinal))
            {
                return line;
            }
        }
    }

    public async Task WriteLineAsync(string line)
    {
        await _process.StandardInput.WriteLineAsync(line).Guarded();
        await _process.StandardInput.FlushAsync(Guard.Token).Guarded();
    }

    public void EndInput() => _process.StandardInput.Close();

    public async Task<int> WaitForExitAsync()
    {
        await _process.WaitForExitAsync(Guard.Token).Guarded();
        return _process.ExitCode;
    }

    /// <summary>What it wrote to its standard error until it ended.</summary>
    public Task<string> ErrorsAsync() => _errors.Guarded();

    // The one that runs the tests, where it says so.
    private static string Muxer => Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet";

    private static ChildProcess Start(ProcessStartInfo start, string[] arguments)
    {
        // Built in the same configuration: test/Net.Zlink.Tests/bin/Release/net10.0 -> test/Net.Zlink.Tests.Child/bin/Release/net10.0.
        const string Name = "Net.Zlink.Tests.Child";
        string here = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory);
        int at = here.LastIndexOf($"{Path.DirectorySeparatorChar}bin{Path.DirectorySeparatorChar}", StringComparison.Ordinal);
        Assert.True(at >= 0, $"the child is looked for beside the folder of the tests, but they run in {here}");
        string program = Path.Combine(Path.GetDirectoryName(here[..at])!, Name, here[(at + 1)..], $"{Name}.dll");
        Assert.True(File.Exists(program), $"{program} is not built");
        start.ArgumentList.Add(program);
        Array.ForEach(arguments, start.ArgumentList.Add);
        return new ChildProcess(start);
    }

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
