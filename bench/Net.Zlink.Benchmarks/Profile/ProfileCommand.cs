using System.CommandLine;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;
using Samples;

namespace Net.Zlink.Benchmarks.Profile;

/// <summary>Shows where a server's time goes while it is under load.</summary>
internal static class ProfileCommand
{
    // The load runs on its own first: what is compiled and warmed by then is what runs for hours.
    private const int WarmUpSeconds = 3;

    // Attaching, and the reading out of the method names at the end, happen under load as well.
    private const int SlackSeconds = 5;

    private static readonly Option<string?> Server =
        new("--server") { Description = "Command of the server to start, with {port}; it must print a line that starts with READY." };

    private static readonly Option<int?> Pid = new("--pid") { Description = "Instead: a .NET process that runs already." };

    private static readonly Option<string?> Load = new("--load")
    {
        Description = $"Command that makes the load while the profile is taken. With {{port}} in it, as it is; without, the load "
            + $"generator of 'compare' (by default {LoadCommand.Variable}).",
    };

    private static readonly Option<string> Case =
        new("--case") { Description = "The load generator's case, as for 'compare'.", DefaultValueFactory = _ => "s2" };

    private static readonly Option<int> Seconds =
        new Option<int>("--seconds") { Description = "How long.", DefaultValueFactory = _ => 10 }.AtLeast(1)
        .AtMost(OptionChecks.SecondsOfADay);

    private static readonly Option<int> Top =
        new Option<int>("--top") { Description = "Rows per table.", DefaultValueFactory = _ => 30 }.AtLeast(1);

    private static readonly Option<string?> Find =
        new("--find") { Description = "Also show who calls, and what is called by, the methods whose name contains this text." };

    private static readonly Option<bool> Allocations =
        new("--allocations") { Description = "Also record what is allocated, and where: one event per 100 KB." };

    private static readonly Option<FileInfo> Output =
        new("--output")
        {
            Description = "Where the trace goes (PerfView, speedscope after conversion, Visual Studio read it).",
            DefaultValueFactory = _ => new FileInfo("profile.nettrace")
        };

    public static Command Create()
    {
        var command = new ExampleCommand(
            "profile",
            "Samples a .NET server under load: top methods (exclusive and inclusive), collections and pauses, lock contention, thread "
                + "pool. Writes a .nettrace.",
            "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- profile --seconds 10 \\",
            "    --server \"dotnet samples/EchoServer/bin/Release/net10.0/EchoServer.dll --endpoint tcp://127.0.0.1:{port} --quiet\" \\",
            "    --load /path/to/load-generator --case s2",
            "... profile --server \"...\" --load \"/path/to/anything 127.0.0.1 {port}\"",
            "... profile --pid 4711 --seconds 30 --allocations --find ReceiveAsync");
        foreach (Option option in new Option[] { Server, Pid, Load, Case, Seconds, Top, Find, Allocations, Output })
        {
            command.Add(option);
        }

        command.SetAction(RunAsync);
        return command;
    }

    private static async Task<int> RunAsync(ParseResult request, CancellationToken cancellation)
    {
        string? command = request.GetValue(Server);
        int? pid = request.GetValue(Pid);
        if (command is null == pid is null)
        {
            throw new RequestException("Give either --server COMMAND or --pid NUMBER.");
        }

        FileInfo file = request.GetValue(Output)!;
        OutputCheck.File(file);
        await using RunningServer? server = command is null ? null
            : await RunningServer.StartAsync(ServerSpec.Parse("server=" + command), cancellation);
        int seconds = request.GetValue(Seconds);
        await using ChildProcess? load = StartLoad(request, server, seconds);
        if (load is not null)
        {
            await Task.Delay(TimeSpan.FromSeconds(WarmUpSeconds), cancellation);
        }

        Console.Error.WriteLine($"sampling for {seconds} s ...");
        Recording recording = await Recording.TakeAsync(
            server?.Id ?? pid!.Value, TimeSpan.FromSeconds(seconds), request.GetValue(Allocations), file, cancellation);
        if (load is not null)
        {
            // It goes on a few seconds longer than the recording; its result says what the server did while it was watched.
            string? result = await load.ReadLineAsync("{", TimeSpan.FromSeconds(WarmUpSeconds + seconds + 30), cancellation);
            Console.WriteLine($"load: {result ?? "no result. " + load.LastErrors}");
        }

        Console.WriteLine(new Machine());
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{recording.Elapsed.TotalSeconds:0.0} s recorded; the process used {recording.CpuSeconds:0.00} s of processor time "
                + $"({recording.CpuSeconds / recording.Elapsed.TotalSeconds:0.00} cores); trace: {file.FullName}"));
        Console.WriteLine();
        TraceSummary summary = TraceReader.Read(file, request.GetValue(Find));
        TraceReport.Print(summary, request.GetValue(Top));
        return 0;
    }

    private static ChildProcess? StartLoad(ParseResult request, RunningServer? server, int seconds)
    {
        string? text = request.GetValue(Load);
        if (server is null)
        {
            return text is null ? null : ChildProcess.StartShell(text);
        }

        string port = server.Port.ToString(CultureInfo.InvariantCulture);
        if (text?.Contains("{port}", StringComparison.Ordinal) == true)
        {
            return ChildProcess.StartShell(text.Replace("{port}", port, StringComparison.Ordinal));
        }

        LoadCase what = LoadCase.Parse(request.GetValue(Case)!);
        what.CheckLimits();
        return ChildProcess.StartShell(
            $"{LoadCommand.Find(text)} {LoadCommand.Arguments(WarmUpSeconds, seconds + SlackSeconds, server.Port, what)}");
    }
}
