using System.Globalization;
using System.Xml.Linq;

namespace Net.Zlink.Scenarios.Report.Charts;

/// <summary>One bar: the median, and a whisker from the lowest to the highest; or a word where there is no figure.</summary>
/// <param name="Name">Whose.</param>
/// <param name="Value">Null: there is none.</param>
/// <param name="Low">The lowest.</param>
/// <param name="High">The highest.</param>
/// <param name="Failed">The verdict, which stands beside the bar whether there is a figure or not.</param>
internal sealed record ChartBar(string Name, double? Value, double Low, double High, bool Failed);

/// <summary>Lying bars: names need room to be read.</summary>
internal static class BarChart
{
    private const double Left = 112;
    private const double Right = 62;
    private const double Top = 6;
    private const double Row = 30;
    private const double Thickness = 16;
    private const double Bottom = 44;

    /// <summary>A figure with one bar for each.</summary>
    public static XElement Draw(string title, string axisTitle, IReadOnlyList<ChartBar> bars)
    {
        double height = Top + (bars.Count * Row) + Bottom;
        var axis = ChartAxis.Linear(axisTitle, bars.SelectMany(static bar => bar.Value is null ? [] : new[] { bar.Value.Value, bar.High }));
        var svg = Html.Element(
            "svg",
            Html.Attribute("viewBox", string.Create(CultureInfo.InvariantCulture, $"0 0 {LineChart.Width} {height}")),
            Html.Attribute("width", Numbers.Text(LineChart.Width)),
            Html.Attribute("height", Numbers.Text(height)),
            Html.Attribute("role", "img"),
            Html.Attribute("aria-label", $"{title}; {axisTitle}: "
                + string.Join("; ", bars.Select(static bar =>
                $"{bar.Name} {(bar.Value is { } value ? Figures.Short(value) : "no figure")}{(bar.Failed ? ", FAIL" : "")}"))));
        double bottom = height - Bottom;
        foreach ((double value, string label) in Thinned(axis.Ticks))
        {
            svg.Add(LineChart.Line(X(axis, value), Top, X(axis, value), bottom, "grid"),
                LineChart.Text(X(axis, value), bottom + 17, label, "middle"));
        }

        svg.Add(LineChart.Line(Left, Top, Left, bottom, "axis"),
            LineChart.Text((Left + LineChart.Width - Right) / 2, height - 8, axisTitle, "middle", "title"));
        for (int i = 0; i < bars.Count; i++)
        {
            DrawBar(svg, axis, bars[i], Top + (i * Row) + (Row / 2));
        }

        return Html.Element("figure", Html.Element("figcaption", Html.Text(title)), svg);
    }

    // At this width four numbers fit.
    private static IEnumerable<(double Value, string Label)> Thinned(IReadOnlyList<(double Value, string Label)> ticks) =>
        ticks.Where((_, index) => ticks.Count <= 4 || index % 2 == 0);

    private static double X(ChartAxis axis, double value) => Left + (axis.Place(value) * (LineChart.Width - Left - Right));

    private static void DrawBar(XElement svg, ChartAxis axis, ChartBar bar, double middle)
    {
        svg.Add(LineChart.Text(Left - 8, middle + 4, Shortened(bar.Name), "end", "name"));
        if (bar.Value is { } value)
        {
            double low = X(axis, bar.Low);
            double high = X(axis, bar.High);
            var group = Html.Element(
                "g",
                Html.Class(SeriesLook.ColourClass(SeriesLook.SlotOf(bar.Name)) + (bar.Failed ? " failed" : "")),
                Html.Element(
                    "rect",
                    Html.Class("bar"),
                    Html.Attribute("x", Numbers.Text(Left)),
                    Html.Attribute("y", Numbers.Text(middle - (Thickness / 2))),
                    Html.Attribute("width", Numbers.Text(Math.Max(1, X(axis, value) - Left))),
                    Html.Attribute("height", Numbers.Text(Thickness))));
            if (bar.High > bar.Low)
            {
                string path = $"M{Numbers.Text(low)} {Numbers.Text(middle)}H{Numbers.Text(high)}M{Numbers.Text(low)} "
                    + $"{Numbers.Text(middle - 4)}v8M{Numbers.Text(high)} {Numbers.Text(middle - 4)}v8";

                // Twice: on a bar of any colour one of the two is seen.
                group.Add(Html.Element("path", Html.Class("halo"), Html.Attribute("d", path)),
                    Html.Element("path", Html.Class("spread"), Html.Attribute("d", path)));
            }

            svg.Add(group);
        }

        string verdict = bar.Failed ? "\u2717 FAIL" : bar.Value is { } figure ? Figures.Short(figure) : "no figure";
        double at = bar.Value is null ? Left + 6 : LineChart.Width - Right + 8;
        svg.Add(LineChart.Text(at, middle + 4, verdict, "start", bar.Failed ? "value bad" : "value"));
    }

    // As many letters as fit beside the bars.
    private static string Shortened(string name)
    {
        const int Most = 15;
        return name.Length <= Most ? name : string.Concat(name.AsSpan(0, Most - 1), "\u2026");
    }
}
