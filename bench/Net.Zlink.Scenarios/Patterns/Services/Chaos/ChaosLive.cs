using System.Diagnostics;
using System.Globalization;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>How the run goes: one line, drawn over itself in a terminal, each ten seconds in a log.</summary>
internal sealed class ChaosLive : IDisposable
{
    private readonly IReadOnlyList<ChaosMember> _members;
    private readonly TimeSpan _time;
    private readonly long _start = Stopwatch.GetTimestamp();
    private readonly Timer _timer;

    public ChaosLive(IReadOnlyList<ChaosMember> members, TimeSpan time)
    {
        (_members, _time) = (members, time);
        TimeSpan interval = TimeSpan.FromSeconds(Console.IsErrorRedirected ? 10 : 1);
        _timer = new Timer(_ => Show(), state: null, interval, interval);
    }

    public void Dispose()
    {
        _timer.Dispose();
        if (!Console.IsErrorRedirected)
        {
            Console.Error.WriteLine();
        }
    }

    private void Show()
    {
        long asked = _members.Where(static member => member.Role == ChaosRole.Gateway).Sum(static member => member.Begun);
        long answered = _members.Where(static member => member.Role == ChaosRole.Gateway).Sum(static member => member.Done);
        long received = _members.Where(static member => member.Role == ChaosRole.Spot).Sum(static member => member.Done);
        string troubles = string.Join(", ", _members.Where(static member => member.Trouble is not null)
            .Select(static member => $"{member.Name} {member.Trouble}"));
        string line = string.Create(
            CultureInfo.InvariantCulture,
            $"{Stopwatch.GetElapsedTime(_start):mm\\:ss} of {_time:mm\\:ss}  requests {asked:N0}, answered {answered:N0}  "
                + $"spot {received:N0}  {troubles}");
        if (Console.IsErrorRedirected)
        {
            Console.Error.WriteLine(line);
        }
        else
        {
            Console.Error.Write($"\e[2K\r{line}");
        }
    }
}
