using System.Globalization;
using Spectre.Console;

namespace ServiceMesh;

/// <summary>The live table, and the keys that make things fail.</summary>
internal sealed class Screen(Mesh mesh)
{
    private static readonly TimeSpan Refresh = TimeSpan.FromMilliseconds(250);

    private readonly Dictionary<MeshProcess, (long Requests, long At, double PerSecond)> _rates = [];
    private readonly HashSet<int> _cut = [];
    private int _selected;
    private bool _isStopped;

    private MeshProcess[] Selectable { get; } = [.. mesh.Registries, .. mesh.Receivers];

    /// <summary>Shows the mesh under load until q or the token ends it.</summary>
    /// <returns>What is wrong; null: nothing.</returns>
    public static async Task<string?> RunAsync(Mesh mesh, CancellationToken stop)
    {
        if (Console.IsOutputRedirected || Console.IsInputRedirected)
        {
            return "the live table needs a terminal; --demo does not";
        }

        mesh.Ask(long.MaxValue);
        var screen = new Screen(mesh);
        await AnsiConsole.Live(screen.Draw()).StartAsync(async live =>
        {
            while (!screen._isStopped && !stop.IsCancellationRequested)
            {
                while (Console.KeyAvailable)
                {
                    screen.Press(Console.ReadKey(intercept: true));
                }

                live.UpdateTarget(screen.Draw());
                await Task.Delay(Refresh, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        });
        return null;
    }

    private void Press(ConsoleKeyInfo key)
    {
        MeshProcess selected = Selectable[_selected];
        bool isRegistry = _selected < mesh.Registries.Length;
        switch (char.ToLowerInvariant(key.KeyChar))
        {
            case >= '1' and <= '6':
                _selected = key.KeyChar - '1';
                break;
            case 'k':
                _ = selected.KillAsync();
                break;
            case 'r':
                _ = selected.StartAsync();
                break;
            case 'd' when !isRegistry:
                _ = selected.DrainAsync();
                break;
            case 'c' when isRegistry:
                bool isCut = _cut.Add(_selected) || !_cut.Remove(_selected);
                mesh.SetCut(_selected, isCut);
                break;
            case 'q':
                _isStopped = true;
                break;
            default:
                break;
        }
    }

    private Rows Draw()
    {
        RoleStatus gateway = mesh.Gateway.Status;
        Table table = new Table().RoundedBorder().AddColumns("", "process", "state", "lists", "connected", "requests/s", "share");
        for (int i = 0; i < Selectable.Length; i++)
        {
            AddRow(table, i, gateway);
        }

        string unanswered = gateway.Unanswered == 0 ? "[green]0[/]" : Invariant($"[red]{gateway.Unanswered:N0}[/]");
        var load = new Markup(
            Invariant($"gateway: {RateOf(mesh.Gateway, gateway.Requests):N0} requests/s to {gateway.Listed.Length} receivers, ")
            + Invariant($"99 % within {gateway.Percentile99:0.0} ms"));
        var results = new Markup(
            Invariant($"{gateway.Answered:N0} answered, {unanswered} without a reply, {gateway.Repeated:N0} sent again because their ")
            + Invariant($"receiver died {Markup.Escape(gateway.Remark)}"));
        return new Rows(table, load, results,
            new Markup("[grey]1-6 select   k kill   r restart   d drain a receiver   c cut a registry off, and mend   q quit[/]"));
    }

    private void AddRow(Table table, int index, RoleStatus gateway)
    {
        MeshProcess process = Selectable[index];
        RoleStatus status = process.Status;
        bool isRegistry = index < mesh.Registries.Length;
        string state = _cut.Contains(index) ? "[yellow]cut off[/]"
            : process.IsRunning ? process.State
            : $"[red]{process.State}[/]";
        long replies = gateway.Replies.GetValueOrDefault(process.Settings.Endpoint);
        table.AddRow(
            Invariant($"{(index == _selected ? "[invert]" : "[default]")}{index + 1}[/]"),
            process.Name,
            state,
            isRegistry ? Invariant($"{status.Listed.Length} receivers") : "",
            isRegistry ? Invariant($"{status.Connected} peers") : Invariant($"{status.Connected} registries"),
            isRegistry ? "" : Invariant($"{RateOf(process, status.Requests):N0}"),
            isRegistry ? "" : Invariant($"{(gateway.Answered == 0 ? 0 : 100.0 * replies / gateway.Answered):0} %"));
    }

    /// <summary>Over the time since the last look that found another number: a status is older than a frame now and then.</summary>
    private double RateOf(MeshProcess process, long requests)
    {
        long now = TimeProvider.System.GetTimestamp();
        (long Requests, long At, double PerSecond) before = _rates.GetValueOrDefault(process, (requests, now, 0));
        TimeSpan passed = TimeProvider.System.GetElapsedTime(before.At, now);
        if (passed < TimeSpan.FromSeconds(1))
        {
            _rates.TryAdd(process, before);
            return before.PerSecond;
        }

        double rate = Math.Max(0, requests - before.Requests) / passed.TotalSeconds;
        _rates[process] = (requests, now, rate);
        return rate;
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
