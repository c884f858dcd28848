using System.Diagnostics;
using System.Globalization;
using Samples;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>Programs that tests start, and what tests do with them. Every wait has a limit.</summary>
internal static class Programs
{
    // Only reached when something is wrong: a start takes half a second, ten on a busy machine.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>Net.Zlink.Tests.Child, with limits that would end the test process.</summary>
    public static ProcessStartInfo Child(params IEnumerable<string> arguments) => Built("test/Net.Zlink.Tests.Child", arguments);

    public static ProcessStartInfo Sample(string name, params IEnumerable<string> arguments) => Built($"samples/{name}", arguments);

    /// <summary>A program of the system's, in a folder.</summary>
    public static ProcessStartInfo Installed(string name, string folder, params IEnumerable<string> arguments) =>
        new(name, arguments) { WorkingDirectory = folder };

    /// <summary>The path of the first of these programs that the system has; null: it has none.</summary>
    public static string? Find(params IEnumerable<string> names) => (Environment.GetEnvironmentVariable("PATH") ?? "")
        .Split(Path.PathSeparator).SelectMany(folder => names.Select(name => Path.Combine(folder, name))).FirstOrDefault(File.Exists);

    public static ProcessStartInfo With(this ProcessStartInfo info, string variable, string value)
    {
        info.Environment[variable] = value;
        return info;
    }

    /// <summary>With the runtime's inline completions on or off, and one polling thread.</summary>
    public static ProcessStartInfo WithInlineCompletions(this ProcessStartInfo info, bool on) =>
        info.With("DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS", on ? "1" : "0").With("DOTNET_SYSTEM_NET_SOCKETS_THREAD_COUNT", "1");

    /// <summary>With so many descriptors at most.</summary>
    public static ProcessStartInfo WithDescriptors(this ProcessStartInfo info, int limit) =>
        info.Within(string.Create(CultureInfo.InvariantCulture, $"ulimit -n {limit}; exec \"$0\" \"$@\""));

    /// <summary>What it says on standard error comes as lines of its output.</summary>
    public static ProcessStartInfo WithErrorsInOutput(this ProcessStartInfo info) => info.Within("exec \"$0\" \"$@\" 2>&1");

    public static ChildProcess Start(this ProcessStartInfo info) => ChildProcess.Start(info);

    /// <summary>Runs it to its end, without input.</summary>
    public static async Task<ProgramEnd> RunAsync(this ProcessStartInfo info)
    {
        await using var process = ChildProcess.Start(info);
        process.EndInput();
        return await process.EndAsync();
    }

    /// <summary>The next line that begins so; the test fails where the program ends before.</summary>
    public static async Task<string> ReadLineAsync(this ChildProcess process, string prefix = "")
    {
        if (await process.ReadLineAsync(prefix, Patience, Guard.Token) is { } line)
        {
            return line;
        }

        await process.WaitForExitAsync(TimeSpan.FromSeconds(1), Guard.Token); // For its last words.
        throw new InvalidOperationException($"The program ended, or {Patience} went by, before it said \"{prefix}\": {process.Errors}");
    }

    /// <summary>Reads on until a line satisfies the condition.</summary>
    public static async Task<string> ReadUntilAsync(this ChildProcess process, Func<string, bool> condition)
    {
        string line;
        do
        {
            line = await process.ReadLineAsync();
        }
        while (!condition(line));
        return line;
    }

    /// <param name="process">The program.</param>
    /// <param name="name">As kill has it: STOP, CONT, TERM.</param>
    public static Task SignalAsync(this ChildProcess process, string name) => process.SignalAsync(name, Guard.Token).Guarded();

    /// <summary>Waits for its end.</summary>
    public static async Task<ProgramEnd> EndAsync(this ChildProcess process)
    {
        Assert.True(await process.WaitForExitAsync(Patience, Guard.Token), $"the program did not end within {Patience}");
        return new ProgramEnd(process.ExitCode, await process.ReadToEndAsync(Guard.Token), process.Errors);
    }

    // Built with the tests, so it lies beside them: same configuration, same framework.
    private static ProcessStartInfo Built(string project, IEnumerable<string> arguments)
    {
        var framework = new DirectoryInfo(Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory));
        string folder = Path.Combine(Repository.Root, project, "bin", framework.Parent!.Name, framework.Name);
        string program = Path.Combine(folder, $"{Path.GetFileName(project)}.dll");
        Assert.True(File.Exists(program), $"{program} is not built");
        return Installed(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", folder, [program, .. arguments]);
    }

    private static ProcessStartInfo Within(this ProcessStartInfo info, string script)
    {
        info.ArgumentList.Insert(0, info.FileName);
        info.ArgumentList.Insert(0, script);
        info.ArgumentList.Insert(0, "-c");
        info.FileName = "sh";
        return info;
    }
}

/// <summary>How a program ended, and what it had said that was not read before.</summary>
internal sealed record ProgramEnd(int Code, string Output, string Errors);
