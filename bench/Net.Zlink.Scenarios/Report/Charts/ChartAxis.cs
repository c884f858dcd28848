namespace Net.Zlink.Scenarios.Report.Charts;

/// <summary>One direction of a chart: from figures to pixels, and what is written along it.</summary>
internal sealed class ChartAxis
{
    // Labels of 12 px along 200 px: more would be a wall of numbers, or touch.
    private const int MostTicks = 6;
    private const int MostLogTicks = 8;

    private readonly bool _log;
    private readonly double _low;
    private readonly double _high;

    private ChartAxis(string title, bool log, double low, double high, IReadOnlyList<(double Value, string Label)> ticks)
    {
        Title = title;
        _log = log;
        _low = low;
        _high = high;
        Ticks = ticks;
    }

    /// <summary>With the unit.</summary>
    public string Title { get; }

    public IReadOnlyList<(double Value, string Label)> Ticks { get; }

    /// <summary>From 0 to a round number above the highest.</summary>
    public static ChartAxis Linear(string title, IEnumerable<double> values) => Linear(title, values, isTight: false);

    /// <summary>From 0 to the highest: of time, which ends when the run does.</summary>
    public static ChartAxis Time(string title, IEnumerable<double> values) => Linear(title, values, isTight: true);

    /// <summary>By powers of ten; where there is only one, by 1, 2 and 5. Figures of 0 and less are left out.</summary>
    public static ChartAxis Logarithmic(string title, IEnumerable<double> values)
    {
        double[] positive = [.. values.Where(static value => double.IsFinite(value) && value > 0)];
        if (positive.Length == 0)
        {
            positive = [1, 10];
        }

        double low = Down(positive.Min());
        double high = Up(positive.Max());
        if (high <= low)
        {
            high = low * 10;
        }

        var ticks = new List<double>();
        for (double decade = Math.Pow(10, Math.Floor(Math.Log10(low) + 1e-9)); decade <= high * 1.0001; decade *= 10)
        {
            ticks.AddRange(new[] { decade, decade * 2, decade * 5 }.Where(tick => tick >= low * 0.9999 && tick <= high * 1.0001));
        }

        if (ticks.Count > MostLogTicks)
        {
            ticks.RemoveAll(static tick => Math.Abs(Math.Log10(tick) - Math.Round(Math.Log10(tick))) > 0.01);
        }

        while (ticks.Count > MostLogTicks)
        {
            ticks = [.. ticks.Where(static (_, index) => index % 2 == 0)];
        }

        return new ChartAxis(title, log: true, low, high, [.. ticks.Select(static tick => (tick, Figures.Short(tick)))]);
    }

    /// <summary>The given ticks only, logarithmic, with room at both ends.</summary>
    public static ChartAxis Fixed(string title, IReadOnlyList<(double Value, string Label)> ticks, double low, double high) =>
        new(title, log: true, low, high, ticks);

    /// <summary>0 at the beginning of the axis, 1 at its end.</summary>
    public double Place(double value) => Math.Clamp(
        _log ? Math.Log(Math.Max(value, _low) / _low) / Math.Log(_high / _low) : (value - _low) / (_high - _low), 0, 1);

    public bool Shows(double value) => double.IsFinite(value) && (!_log || value > 0);

    private static ChartAxis Linear(string title, IEnumerable<double> values, bool isTight)
    {
        double highest = Math.Max(values.Where(double.IsFinite).DefaultIfEmpty(0).Max(), 1e-9);
        double step = RoundStep(highest / (MostTicks - 1));
        int steps = (int)(isTight ? Math.Floor((highest / step) + 1e-9) : Math.Ceiling((highest / step) - 1e-9));
        return new ChartAxis(title, log: false, 0, isTight ? highest : steps * step,
            [.. Enumerable.Range(0, steps + 1).Select(i => (i * step, Figures.Short(i * step)))]);
    }

    private static double RoundStep(double least)
    {
        double power = Math.Pow(10, Math.Floor(Math.Log10(least)));
        double[] steps = [1, 2, 2.5, 5, 10];
        return steps.First(step => step * power >= least * 0.9999) * power;
    }

    private static double Down(double value)
    {
        double power = Math.Pow(10, Math.Floor(Math.Log10(value)));
        return new[] { 5.0, 2, 1 }.First(step => step * power <= value * 1.0001) * power;
    }

    private static double Up(double value)
    {
        double power = Math.Pow(10, Math.Floor(Math.Log10(value)));
        return new[] { 1.0, 2, 5, 10 }.First(step => step * power >= value * 0.9999) * power;
    }
}
