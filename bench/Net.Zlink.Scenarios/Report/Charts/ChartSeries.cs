namespace Net.Zlink.Scenarios.Report.Charts;

/// <summary>What belongs together in a chart: one colour, one dash and one mark.</summary>
internal sealed record ChartSeries(string Name, IReadOnlyList<ChartPoint> Points);

/// <summary>One point, with the lowest and the highest that was measured where there was more than one.</summary>
internal readonly record struct ChartPoint(double X, double Y, double? Low = null, double? High = null);

/// <summary>The look of a stack: the same in every chart of every report.</summary>
/// <remarks>The hues are those of Okabe and Ito, chosen to be told apart by colour-blind people; mark and dash say the same again, also on
/// paper.</remarks>
internal static class SeriesLook
{
    // A name that is not here gets one of the looks behind these.
    private static readonly string[] Known = ["net-zlink", "net-zlink-pull", "dotnet", "kestrel", "native", "external", "net-zlink-batch"];

    private static readonly int[] Slots = [0, 1, 2, 3, 4, 5, 1];

    private static readonly string[] Dashes = ["", "7 3", "2 3", "9 3 2 3", "5 2", "1 2"];

    public const int Count = 6;

    public static int SlotOf(string name)
    {
        int index = Array.IndexOf(Known, name);
        return index >= 0 ? Slots[index] : name.Sum(static letter => letter) % Count;
    }

    public static string ColourClass(int slot) => "s" + Numbers.Text(slot);

    public static string DashOf(int slot) => Dashes[slot];

    /// <summary>A mark around a point, as an SVG path.</summary>
    public static string MarkOf(int slot, double x, double y)
    {
        const double R = 4;
        return slot switch
        {
            0 => $"M{N(x - R)} {N(y)}a{N(R)} {N(R)} 0 1 0 {N(2 * R)} 0a{N(R)} {N(R)} 0 1 0 {N(-2 * R)} 0z",
            1 => $"M{N(x - R)} {N(y - R)}h{N(2 * R)}v{N(2 * R)}h{N(-2 * R)}z",
            2 => $"M{N(x)} {N(y - R - 1)}L{N(x + R + 1)} {N(y + R)}H{N(x - R - 1)}z",
            3 => $"M{N(x)} {N(y - R - 1)}L{N(x + R + 1)} {N(y)}L{N(x)} {N(y + R + 1)}L{N(x - R - 1)} {N(y)}z",
            4 => $"M{N(x)} {N(y + R + 1)}L{N(x + R + 1)} {N(y - R)}H{N(x - R - 1)}z",
            _ => $"M{N(x - 1.5)} {N(y - R - 1)}h3v{N(R - 0.5)}h{N(R - 0.5)}v3h{N(0.5 - R)}v{N(R - 0.5)}"
                + $"h-3v{N(0.5 - R)}h{N(0.5 - R)}v-3h{N(R - 0.5)}z",
        };

        static string N(double number) => Numbers.Text(number);
    }
}
