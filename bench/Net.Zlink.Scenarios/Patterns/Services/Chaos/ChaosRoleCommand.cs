using System.CommandLine;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>A part of the services in a process of its own.</summary>
internal interface IChaosPart : IAsyncDisposable
{
    /// <summary>Numbers for the live line and for the checks; see <see cref="ChaosStatus"/>.</summary>
    ChaosStatus GetStatus();

    /// <summary>No more load from here; returns when nothing of it is left.</summary>
    Task StopLoadAsync() => Task.CompletedTask;
}

/// <summary>What a process says of itself, four times a second.</summary>
/// <param name="Begun">Requests or publications; of a receiver, executions.</param>
/// <param name="Done">Requests answered, or messages received.</param>
/// <param name="Seen">How many of the others it sees: entries, registries, ready receivers, peers.</param>
internal readonly record struct ChaosStatus(long Begun, long Done, int Seen);

/// <summary>Runs a part until the standard input ends, and then ends it in order.</summary>
internal static class ChaosRoleCommand
{
    public const string Name = "chaos-role";
    public const string Stop = "stop";
    public const string Stopped = "STOPPED";

    private static readonly TimeSpan StatusInterval = TimeSpan.FromMilliseconds(250);

    public static Command Create()
    {
        var settings = new Option<string>("--settings") { Description = "What to run, as JSON.", Required = true };
        var command = new Command(Name, "A part of services in a process of its own; 'services --chaos' runs it.") { settings };
        command.SetAction(async (request, cancellation) =>
        {
            await RunAsync(ChaosSettings.Parse(request.GetValue(settings)!), cancellation);
            return 0;
        });
        return command;
    }

    private static async Task RunAsync(ChaosSettings settings, CancellationToken cancellation)
    {
        using var log = new ChaosLog(settings.LogFile);
        await using var context = new ZlinkContext();
        await using IChaosPart part = settings.Role switch
        {
            ChaosRole.Registry => new ChaosRegistry(context, settings),
            ChaosRole.Receiver => new ChaosReceiver(context, settings, log),
            ChaosRole.Gateway => new ChaosGateway(context, settings, log),
            _ => new ChaosSpot(context, settings, log),
        };
        Console.WriteLine(ChildLines.Ready);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        Task saying = SayStatusAsync(part, end.Token);
        while (await Console.In.ReadLineAsync(cancellation) is { } line)
        {
            if (string.Equals(line, Stop, StringComparison.Ordinal))
            {
                await part.StopLoadAsync();
                Console.WriteLine(Stopped);
            }
        }

        await part.StopLoadAsync();
        await end.CancelAsync();
        await saying;
    }

    private static async Task SayStatusAsync(IChaosPart part, CancellationToken end)
    {
        while (!end.IsCancellationRequested)
        {
            ChaosStatus status = part.GetStatus();
            Console.WriteLine(FormattableString.Invariant($"{ChildLines.Status}{status.Begun} {status.Done} {status.Seen}"));
            await Task.Delay(StatusInterval, end).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
