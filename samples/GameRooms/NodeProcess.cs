using System.Globalization;
using Net.Zlink.Services;

namespace Samples.GameRooms;

/// <summary>The process of one node. It talks to the one that started it by lines: commands come in, answers go out, and when nothing more
/// can come in it ends.</summary>
internal sealed class NodeProcess(GameNode game, int nodes)
{
    public const int Rounds = 20;

    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan CheckLimit = TimeSpan.FromSeconds(10);

    /// <summary>Places of all bots as they begin: the demo's do not walk.</summary>
    private readonly (float X, float Y)[] _places = Field.Places(nodes);

    /// <param name="arguments">Publisher and router endpoint of the registry, how many nodes there are, the port of the page or -1, and
    /// "demo" or "game".</param>
    public static async Task<int> RunAsync(string[] arguments)
    {
        int nodes = int.Parse(arguments[2], CultureInfo.InvariantCulture);
        int port = int.Parse(arguments[3], CultureInfo.InvariantCulture);
        bool isDemo = arguments[4] is "demo";
        await using var game = new GameNode(arguments[0], arguments[1], remembers: isDemo);
        using var stop = new CancellationTokenSource();
        await game.JoinAsync(nodes, stop.Token).ConfigureAwait(false);
        await game.PopulateAsync().ConfigureAwait(false);
        var process = new NodeProcess(game, nodes);
        if (isDemo)
        {
            await process.DemoAsync(stop.Token).ConfigureAwait(false);
            return 0;
        }

        Task playing = process.PlayAsync(stop.Token);
        await using View? view = port < 0 ? null : await View.StartAsync(game, port).ConfigureAwait(false);
        Console.WriteLine(view is null ? "READY" : $"READY {view.Address}");
        while (await Console.In.ReadLineAsync(stop.Token).ConfigureAwait(false) is { } line)
        {
            if (line is "SLOW")
            {
                game.Slow.SubscribePrefix("zone:");
            }
        }

        await stop.CancelAsync().ConfigureAwait(false);
        await playing.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return 0;
    }

    /// <summary>Ten times a second each bot walks and says where it is. When nodes come or go, the map is divided anew.</summary>
    private async Task PlayAsync(CancellationToken cancellation)
    {
        string[] known = game.Nodes;
        using var timer = new PeriodicTimer(Tick);
        for (int tick = 0; await timer.WaitForNextTickAsync(cancellation).ConfigureAwait(false); tick++)
        {
            string[] present = game.Nodes;
            if (!present.SequenceEqual(known, StringComparer.Ordinal))
            {
                known = present;
                await game.PopulateAsync().ConfigureAwait(false);
            }

            int self = Array.IndexOf(known, game.Endpoint);
            foreach (Bot bot in game.Bots)
            {
                bot.Walk(Field.StripeOf(self, known.Length), Field.StripeOf(self + 1, known.Length));
                bot.Publish();
            }

            if (tick % 50 == 49)
            {
                Console.WriteLine($"STATUS {game}");
            }
        }
    }

    /// <summary>Every bot says 20 times where it is, then each is asked whether it has heard all of its neighbours once.</summary>
    private async Task DemoAsync(CancellationToken cancellation)
    {
        game.Slow.SubscribePrefix("zone:");
        await game.SynchronizeAsync(cancellation).ConfigureAwait(false);
        Console.WriteLine("READY");
        await ExpectAsync("GO", cancellation).ConfigureAwait(false);
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(10));
        for (int round = 0; round < Rounds; round++)
        {
            await timer.WaitForNextTickAsync(cancellation).ConfigureAwait(false);
            foreach (Bot bot in game.Bots)
            {
                bot.Publish();
            }
        }

        Console.WriteLine("PUBLISHED");
        await ExpectAsync("CHECK", cancellation).ConfigureAwait(false);
        Console.WriteLine($"RESULT {await CheckAsync().ConfigureAwait(false)}");
        await ExpectAsync("END", cancellation).ConfigureAwait(false);
    }

    private async Task<NodeResult> CheckAsync()
    {
        (int By, int Bot)[] pairs =
        [
            .. from bot in game.Bots
               from other in Enumerable.Range(0, Field.Bots)
               where Field.Around((int)_places[bot.Id].X, (int)_places[bot.Id].Y).Contains(((int)_places[other].X, (int)_places[other].Y))
               select (bot.Id, other),
        ];
        int Missing() => pairs.Sum(pair => Enumerable.Range(1, Rounds).Count(number => !game.Sightings.HasSeen(pair.By, pair.Bot, number)));
        using var limit = new CancellationTokenSource(CheckLimit);
        while (Missing() > 0 && !limit.IsCancellationRequested)
        {
            await Task.Delay(Tick, CancellationToken.None).ConfigureAwait(false);
        }

        SpotSubscriberStatistics slow = game.Slow.GetStatistics();
        int expected = pairs.Length * Rounds;
        return new NodeResult(
            expected, Missing(), game.Sightings.Doubles, game.Sightings.Count - game.Sightings.Doubles - (expected - Missing()),
            game.Bots.Sum(static bot => bot.Statistics.Dropped), slow.Matched, slow.Received + slow.Dropped + slow.Queued, slow.Dropped,
            game.Sightings.Ages().P50);
    }

    private static async Task ExpectAsync(string command, CancellationToken cancellation)
    {
        string? line = await Console.In.ReadLineAsync(cancellation).ConfigureAwait(false);
        if (!string.Equals(line, command, StringComparison.Ordinal))
        {
            Environment.Exit(1); // The one that started this process has ended.
        }
    }
}
