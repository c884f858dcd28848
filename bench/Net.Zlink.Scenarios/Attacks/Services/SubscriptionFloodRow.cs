using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>Subscribers of a registry that subscribe again and again, each of which asks for the whole list.</summary>
internal sealed class SubscriptionFloodRow() : AttackRow("services-subscriptions")
{
    private const int Entries = 1_000;
    private const int Attackers = 4;
    private const double BytesPerMegabyte = 1_000_000;

    // The default pace of lists, with room for the first one of each.
    private const double MostMegabytes = 25;
    private const double LongestSeconds = 1;

    private static readonly TimeSpan s_between = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(100);

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using var registry = AttackedRegistry.Start(context);
        await using var honest = new HonestReceiver(context);
        honest.Receiver.ConnectRegistry(registry.RouterEndpoint);
        await Task.WhenAll(Enumerable.Range(0, Entries).Select(at => honest.Receiver.RegisterAsync(
            string.Create(CultureInfo.InvariantCulture, $"service{at}"), cancellationToken: cancellation)));
        ServiceRegistration registration = await honest.Receiver.RegisterAsync(VictimCommand.Service, cancellationToken: cancellation);
        await using var discovery = new RegistryDirectory(context);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await discovery.WaitForAsync(VictimCommand.Service, cancellationToken: cancellation);

        RawClient[] attackers = [.. Enumerable.Range(0, Attackers)
            .Select(_ => new RawClient(registry.PublisherEndpoint, type: RawClient.Sub))];
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        Task<long>[] attacks = [.. attackers.Select(
            one => Task.Run(() => AttackAsync(one, stop.Token), CancellationToken.None))];
        double longest = 0;
        long start = Stopwatch.GetTimestamp();
        for (uint weight = 2; Stopwatch.GetElapsedTime(start) < time; weight++)
        {
            long begin = Stopwatch.GetTimestamp();
            await registration.UpdateWeightAsync(weight, cancellation);
            while (discovery.GetService(VictimCommand.Service).Instances is not [{ } one] || one.Weight != weight)
            {
                await Task.Delay(1, cancellation);
            }

            longest = Math.Max(longest, Stopwatch.GetElapsedTime(begin).TotalSeconds);
            await Task.Delay(s_look, cancellation);
        }

        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        double bytes = attackers.Sum(static one => one.Received);
        await stop.CancelAsync();
        long frames = (await Task.WhenAll(attacks)).Sum();
        Array.ForEach(attackers, static one => one.Dispose());
        return
        [
            new("seconds until a change was seen, longest", longest, LongestSeconds),
            new("lists to them, MB a second", bytes / seconds / BytesPerMegabyte, MostMegabytes),
            new("subscriptions a second", frames / seconds, 1, AtLeast: true),
        ];
    }

    private static async Task<long> AttackAsync(RawClient attacker, CancellationToken stop)
    {
        long frames = 0;
        while (!stop.IsCancellationRequested && attacker.TrySubscribe([]))
        {
            frames++;
            await Task.Delay(s_between, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        return frames;
    }
}
