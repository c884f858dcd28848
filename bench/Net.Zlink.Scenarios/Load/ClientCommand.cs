using System.CommandLine;
using System.Text.Json;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Live;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Runner;
using Net.Zlink.Scenarios.Settings;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Load;

/// <summary>The load alone, against any address.</summary>
internal static class ClientCommand
{
    public static Command Create()
    {
        var scenario = new Argument<Scenario>("scenario")
        {
            Description =
            "s0: one connection, one in flight. s1: connect, and one message each at the end. s2: throughput."
        };
        var connect = new Option<string>("--connect") { Description = "The server: transport://host:port.", Required = true };
        var name = new Option<string>("--name") { Description = "The stack's name in the results.", DefaultValueFactory = _ => "external" };
        var quiet = new Option<bool>("--quiet") { Description = "Only the result." };
        var child = new Option<bool>("--child") { Description = "Report to the program that started it.", Hidden = true };
        var options = new SettingsOptions();
        var command = new ExampleCommand(
            "client",
            "Drives a server that is there already, and prints RESULT and METRIC. Exit code 1: FAIL.",
            "dotnet run -c Release --project bench/Net.Zlink.Scenarios -- client s2 --connect tcp://127.0.0.1:5555",
            "... client s0 --connect tcp://192.168.1.7:5555 --size 64",
            "... client s1 --connect tcp://127.0.0.1:5555 --ccu 5000 --quiet");
        command.Add(scenario);
        command.Add(connect);
        command.Add(name);
        command.Add(quiet);
        command.Add(child);
        options.AddTo(command);
        command.SetAction(async (request, cancellation) =>
        {
            Address address = Address.Parse(request.GetValue(connect)!);
            ScenarioSettings settings = options.Read(request, request.GetValue(scenario), Environment.ProcessorCount)
                with
            { Transport = address.Transport };
            bool isChild = request.GetValue(child);
            PortRange.Check(settings.Connections);
            DescriptorLimit.Check(settings.Connections);

            // Read by the runtime at the first socket. One thread per connection, from readiness to send, is what a load generator wants;
            // its connections never block.
            Environment.SetEnvironmentVariable(Self.InlineCompletions, "1");
            Action<LoadProgress>? progress = isChild ? SayProgress : request.GetValue(quiet) ? null
                : static load => Console.Error.WriteLine(LiveText.Line(load));
            using var client = new LoadClient(settings, ScenarioNames.IdOf(request.GetValue(name)!, settings.Scenario), progress);
            LoadReport report = await RunAsync(client, address, isChild, cancellation);
            if (isChild)
            {
                Console.WriteLine(ChildLines.Report + JsonSerializer.Serialize(report, ChildJson.Default.LoadReport));
                return 0;
            }

            Console.WriteLine(report.Row.ToResultLine());
            Console.WriteLine(report.Row.ToMetricLine());
            Console.Error.WriteLine(string.Create(
                System.Globalization.CultureInfo.InvariantCulture,
                $"connected in {report.Client.ConnectSeconds:0.00} s; this client: {report.Client.CpuMicrosecondsPerMessage:0.00} us of "
                    + $"processor time per reply, {report.Client.BusyPercent:0} % busy, peak {report.Client.PeakMegabytes:0} MB"));
            if (report.Fault is not null)
            {
                Console.Error.WriteLine(report.Fault);
            }

            return report.Row.Passed ? 0 : CommandLineProgram.Failed;
        });
        return command;
    }

    public static IReadOnlyList<string> Arguments(string stack, string endpoint, ScenarioSettings settings) =>
        ["client", settings.Scenario.ToString(), "--child", "--connect", endpoint, "--name", stack,
            .. SettingsOptions.ToArguments(settings)];

    private static async Task<LoadReport> RunAsync(LoadClient client, Address address, bool isChild, CancellationToken cancellation)
    {
        try
        {
            return await client.RunAsync(address, cancellation);
        }
        catch (Exception e) when (isChild && e is not RequestException and not OperationCanceledException)
        {
            // One line, which the round's fault can show; a trace would push it out.
            throw new RequestException($"{e.GetType().Name}: {e.Message}", e);
        }
    }

    private static void SayProgress(LoadProgress progress) =>
        Console.WriteLine(ChildLines.Progress + JsonSerializer.Serialize(progress, ChildJson.Default.LoadProgress));
}
