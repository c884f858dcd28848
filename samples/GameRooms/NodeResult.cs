using System.Globalization;

namespace Samples.GameRooms;

/// <summary>What one node says at the end of the demo: as text of numbers, and read again.</summary>
/// <param name="Expected">Messages that its bots have to see.</param>
/// <param name="Missing">Of these, not seen.</param>
/// <param name="Doubles">Seen twice.</param>
/// <param name="Foreign">Seen without a subscription.</param>
/// <param name="BotsDropped">Dropped by the bots' queues.</param>
/// <param name="SlowMatched">Messages for the subscriber that does not read.</param>
/// <param name="SlowCounted">Its received, dropped and queued ones together.</param>
/// <param name="SlowDropped">What it dropped.</param>
/// <param name="P50">Age of messages in microseconds.</param>
internal sealed record NodeResult(long Expected, long Missing, long Doubles, long Foreign, long BotsDropped, long SlowMatched,
    long SlowCounted, long SlowDropped, int P50)
{
    /// <summary>Every bot saw every neighbour's message once, and only the slow subscriber has dropped.</summary>
    public bool IsGood => Expected > 0 && Missing == 0 && Doubles == 0 && Foreign == 0 && BotsDropped == 0
        && SlowMatched == Field.Bots * NodeProcess.Rounds && SlowCounted == SlowMatched && SlowDropped > 0;

    public static NodeResult Read(string text)
    {
        long[] values = [.. text.Split(' ').Select(static value => long.Parse(value, CultureInfo.InvariantCulture))];
        return new NodeResult(values[0], values[1], values[2], values[3], values[4], values[5], values[6], values[7], (int)values[8]);
    }

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{Expected} {Missing} {Doubles} {Foreign} {BotsDropped} {SlowMatched} {SlowCounted} {SlowDropped} {P50}");
}
