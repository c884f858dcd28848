using System.Globalization;

namespace Samples.GameRooms;

/// <summary>The map: 24 x 24 zones in as many vertical stripes as there are nodes, and 300 bots, each in the stripe of its node.</summary>
internal static class Field
{
    public const int Size = 24;
    public const int Bots = 300;

    // A round is the same in every process.
    private const int Seed = 46;

    private static readonly (int X, int Y)[] Steps = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)];

    public static string TopicOf(int x, int y) => string.Create(CultureInfo.InvariantCulture, $"zone:{x}:{y}");

    /// <summary>A zone and its up to four neighbours.</summary>
    public static IEnumerable<(int X, int Y)> Around(int x, int y) => Steps.Select(step => (X: x + step.X, Y: y + step.Y))
        .Where(static zone => zone.X is >= 0 and < Size && zone.Y is >= 0 and < Size);

    /// <summary>The first column of a node's stripe; of the number of nodes: the end of the map.</summary>
    public static int StripeOf(int node, int nodes) => node * Size / nodes;

    /// <summary>The bots of a node.</summary>
    public static Range BotsOf(int node, int nodes) => (node * Bots / nodes)..((node + 1) * Bots / nodes);

    /// <summary>Where every bot begins: in the stripe of its node, the same in every process.</summary>
    public static (float X, float Y)[] Places(int nodes)
    {
#pragma warning disable CA5394 // Places of bots are no secret.
        var random = new Random(Seed);
        var places = new (float X, float Y)[Bots];
        for (int node = 0; node < nodes; node++)
        {
            (int first, int end) = (StripeOf(node, nodes), StripeOf(node + 1, nodes));
            foreach (ref (float X, float Y) place in places.AsSpan(BotsOf(node, nodes)))
            {
                place = (first + (random.NextSingle() * (end - first) * 0.999f), random.NextSingle() * Size * 0.999f);
            }
        }

        return places;
#pragma warning restore CA5394
    }
}
