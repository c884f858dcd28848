using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Attacks;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>Services as processes that are killed, paused, drained and restarted in turn under load, and a check of all that they
/// did.</summary>
internal static class ChaosCommand
{
    private const int RequestsPerSecond = 200;
    private const int MessagesPerSecond = 50;
    private const int FaultsShown = 20;

    // From the last act until all see each other again: a lease, and a retry of a registration.
    private static readonly TimeSpan s_healLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_settling = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(250);

    public static async Task<bool> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        string folder = Directory.CreateTempSubdirectory("zlink-chaos-").FullName;
        ChaosMember[] members = [.. new ChaosPlan(folder, RequestsPerSecond, MessagesPerSecond).Members
            .Select(static settings => new ChaosMember(settings))];
        try
        {
            return await RunAsync(members, time, cancellation);
        }
        finally
        {
            foreach (ChaosMember member in members)
            {
                await member.DisposeAsync();
            }

            Directory.Delete(folder, recursive: true);
        }
    }

    private static async Task<bool> RunAsync(ChaosMember[] members, TimeSpan time, CancellationToken cancellation)
    {
        foreach (ChaosMember member in members)
        {
            await member.StartAsync(cancellation);
        }

        using var live = new ChaosLive(members, time);
        double sawAll = await SecondsUntilAllSeenAsync(members, cancellation);
        var turns = new ChaosTurns(members, time);
        await turns.RunAsync(cancellation);
        double seeAll = await SecondsUntilAllSeenAsync(members, cancellation);
        var faults = new List<string>(turns.Faults);
        faults.AddRange(members.Where(static member => !SeesAll(member)).Select(static member =>
            string.Create(CultureInfo.InvariantCulture, $"{member.Name} sees {member.Status.Seen} of {AllOf(member.Role)}")));
        if (turns.Faults.Count == 0)
        {
            await EndAsync(members, faults, cancellation);
        }

        ChaosLife[] lives = [.. members.SelectMany(static member => member.ReadLives())];
        var requests = new RequestChecker(lives, ChaosGateway.RequestTimeout);
        var spot = new SpotChecker(lives);
        AttackFigure[] processes =
        [
            new("seconds until all saw each other", sawAll, s_healLimit.TotalSeconds),
            new("seconds until all saw each other again", seeAll, s_healLimit.TotalSeconds),
            .. from role in Enum.GetValues<ChaosRole>()
               from act in Enum.GetValues<ChaosAct>()
               select new AttackFigure($"{role.ToString().ToLowerInvariant()}: {act.ToString().ToLowerInvariant()}",
                   turns.CountOf(role, act), null),
        ];
        return Report(
            [("processes", processes), ("requests", requests.Figures), ("spot", spot.Figures)],
            [.. faults, .. requests.Faults.Take(FaultsShown), .. spot.Faults.Take(FaultsShown)], faults.Count == 0);
    }

    /// <summary>Publishers and gateways first, so that what they sent arrives.</summary>
    private static async Task EndAsync(ChaosMember[] members, List<string> faults, CancellationToken cancellation)
    {
        await Task.WhenAll(members.Where(static member => member.Role is ChaosRole.Gateway or ChaosRole.Spot)
            .Select(member => member.StopLoadAsync(cancellation)));
        await Task.Delay(s_settling, cancellation);
        foreach (ChaosRole role in new[] { ChaosRole.Gateway, ChaosRole.Spot, ChaosRole.Receiver, ChaosRole.Registry })
        {
            try
            {
                await Task.WhenAll(members.Where(member => member.Role == role).Select(member => member.EndAsync(cancellation)));
            }
            catch (InvalidOperationException e)
            {
                faults.Add(e.Message);
            }
        }
    }

    private static async Task<double> SecondsUntilAllSeenAsync(ChaosMember[] members, CancellationToken cancellation)
    {
        long start = Stopwatch.GetTimestamp();
        while (!members.All(SeesAll) && Stopwatch.GetElapsedTime(start) < s_healLimit * 2)
        {
            await Task.Delay(s_look, cancellation);
        }

        return Stopwatch.GetElapsedTime(start).TotalSeconds;
    }

    private static bool SeesAll(ChaosMember member) => member.Status.Seen == AllOf(member.Role);

    private static int AllOf(ChaosRole role) => role switch
    {
        ChaosRole.Registry => ChaosPlan.Receivers + ChaosPlan.SpotNodes,
        ChaosRole.Receiver => ChaosPlan.Registries,
        ChaosRole.Gateway => ChaosPlan.Receivers,
        _ => ChaosPlan.SpotNodes - 1,
    };

    private static bool Report((string Part, IReadOnlyList<AttackFigure> Figures)[] parts, IReadOnlyList<string> faults, bool isWhole)
    {
        var table = new TextTable("part", "what", "limit", "count", "verdict");
        foreach ((string part, AttackFigure figure) in parts.SelectMany(static part => part.Figures.Select(figure => (part.Part, figure))))
        {
            table.Add(part, figure.Name, figure.LimitText, figure.Value.ToString("0.##", CultureInfo.InvariantCulture),
                figure.Limit is null ? "-" : figure.Passed ? ResultRow.Pass : ResultRow.Fail);
        }

        Console.WriteLine(table);
        foreach (string fault in faults)
        {
            Console.WriteLine($"fault: {fault}");
        }

        bool passed = isWhole && parts.All(static part => part.Figures.All(static figure => figure.Passed));
        Console.WriteLine($"CHAOS pass_fail={(passed ? ResultRow.Pass : ResultRow.Fail)}");
        return passed;
    }
}
