using System.Diagnostics;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>What is done to a process.</summary>
internal enum ChaosAct
{
    /// <summary>It is killed, and started again some time later.</summary>
    Kill,

    /// <summary>It stands still for a while.</summary>
    Pause,

    /// <summary>It ends in order, a receiver by a drain, and is started again some time later.</summary>
    Drain,

    /// <summary>It is killed, and started again at once.</summary>
    Restart,
}

/// <summary>Does each act to each member in turn. Of each role half may be in trouble at a time.</summary>
internal sealed class ChaosTurns(IReadOnlyList<ChaosMember> members, TimeSpan time)
{
    // A start costs half a second of a processor: so many leave time for the load.
    private static readonly TimeSpan s_interval = TimeSpan.FromSeconds(2.5);

    // Shorter and longer than the heartbeats of connections and of registrations.
    private static readonly TimeSpan[] s_times =
        [.. new[] { 0.5, 2, 4, 8, 18 }.Select(static seconds => TimeSpan.FromSeconds(seconds))];

    private readonly int[,] _counts = new int[Enum.GetValues<ChaosRole>().Length, Enum.GetValues<ChaosAct>().Length];
    private readonly List<string> _faults = [];

    /// <summary>What went wrong with the processes themselves.</summary>
    public IReadOnlyList<string> Faults => _faults;

    public int CountOf(ChaosRole role, ChaosAct act) => _counts[(int)role, (int)act];

    /// <summary>Returns when all members run again.</summary>
    public async Task RunAsync(CancellationToken cancellation)
    {
        long start = Stopwatch.GetTimestamp();
        var queue = new Queue<(ChaosMember Member, ChaosAct Act)>();
        var open = new List<Task>();
        for (int turn = 0; Stopwatch.GetElapsedTime(start) < time && _faults.Count == 0; turn++)
        {
            if (queue.Count == 0)
            {
                queue = new Queue<(ChaosMember, ChaosAct)>(Round());
            }

            (ChaosMember member, ChaosAct act) = NextOf(queue);
            if (member.Trouble is null && members.Count(one => one.Role == member.Role && one.Trouble is not null)
                < members.Count(one => one.Role == member.Role) / 2)
            {
                member.Trouble = act.ToString().ToLowerInvariant();
                TimeSpan longest = time / 4;
                TimeSpan away = s_times[turn % s_times.Length];
                open.Add(DoAsync(member, act, away < longest ? away : longest, cancellation));
            }

            await Task.Delay(s_interval, cancellation);
        }

        await Task.WhenAll(open);
    }

    /// <summary>Each member with each act: neighbours of the round are of different roles and acts.</summary>
    private IEnumerable<(ChaosMember Member, ChaosAct Act)> Round()
    {
        ChaosAct[] acts = Enum.GetValues<ChaosAct>();
        ChaosMember[] mixed = [.. members.OrderBy(static member => member.Name.Split('-')[1], StringComparer.Ordinal)];
        return from shift in Enumerable.Range(0, acts.Length)
               from at in Enumerable.Range(0, mixed.Length)
               select (mixed[at], acts[(at + (at / acts.Length) + shift) % acts.Length]);
    }

    /// <summary>The first whose member runs; it is put off for one in trouble, not left out.</summary>
    private static (ChaosMember Member, ChaosAct Act) NextOf(Queue<(ChaosMember Member, ChaosAct Act)> queue)
    {
        for (int i = 0; i < queue.Count && queue.Peek().Member.Trouble is not null; i++)
        {
            queue.Enqueue(queue.Dequeue());
        }

        return queue.Dequeue();
    }

    private async Task DoAsync(ChaosMember member, ChaosAct act, TimeSpan away, CancellationToken cancellation)
    {
        try
        {
            if (act == ChaosAct.Pause)
            {
                await member.PauseAsync(away, cancellation);
            }
            else
            {
                await (act == ChaosAct.Drain ? member.EndAsync(cancellation) : member.KillAsync());
                await Task.Delay(act == ChaosAct.Restart ? TimeSpan.Zero : away, cancellation);
                await member.StartAsync(cancellation);
            }

            _counts[(int)member.Role, (int)act]++;
            member.Trouble = null;
        }
        catch (Exception e) when (e is InvalidOperationException or IOException)
        {
            lock (_faults)
            {
                _faults.Add(e.Message);
            }
        }
    }
}
