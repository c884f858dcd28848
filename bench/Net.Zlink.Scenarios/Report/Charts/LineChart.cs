using System.Globalization;
using System.Xml.Linq;

namespace Net.Zlink.Scenarios.Report.Charts;

/// <summary>Lines through points, with whiskers where a point has a spread. Of a fixed size: a chart that shrinks has text that nobody can
/// read.</summary>
internal static class LineChart
{
    public const double Width = 344;

    private const double Height = 250;
    private const double Left = 58;
    private const double Right = 22;
    private const double Top = 10;
    private const double Bottom = 44;

    // Half a character of a label, of 11 pixels: so much room to both sides a label takes that stands in the middle below its tick.
    private const double HalfCharacter = 3.3;

    // More points than this in a line are a curve: marks would hide it.
    private const int MostMarks = 12;

    /// <summary>A figure with the chart and its legend.</summary>
    /// <param name="title">What it shows.</param>
    /// <param name="x">The axis below.</param>
    /// <param name="y">The axis at the left.</param>
    /// <param name="series">What to draw; those without points are left out.</param>
    /// <param name="always">With a legend even for a single line.</param>
    public static XElement Draw(string title, ChartAxis x, ChartAxis y, IReadOnlyList<ChartSeries> series, bool always = true)
    {
        ChartSeries[] shown = [.. series.Where(static one => one.Points.Count > 0)];
        var svg = Html.Element(
            "svg",
            Html.Attribute("viewBox", string.Create(CultureInfo.InvariantCulture, $"0 0 {Width} {Height}")),
            Html.Attribute("width", Numbers.Text(Width)),
            Html.Attribute("height", Numbers.Text(Height)),
            Html.Attribute("role", "img"),
            Html.Attribute("aria-label", $"{title}; {x.Title}; {y.Title}"));
        DrawAxes(svg, x, y);
        foreach (ChartSeries one in shown)
        {
            DrawLine(svg, x, y, one);
        }

        return Html.Element("figure", Html.Element("figcaption", Html.Text(title)), svg, shown.Length > 1 || always
            ? Legend.Draw(shown.Select(static one => one.Name)) : null);
    }

    private static double X(ChartAxis axis, double value) => Left + (axis.Place(value) * (Width - Left - Right));

    private static double Y(ChartAxis axis, double value) => Height - Bottom - (axis.Place(value) * (Height - Top - Bottom));

    private static void DrawAxes(XElement svg, ChartAxis x, ChartAxis y)
    {
        foreach ((double value, string label) in y.Ticks)
        {
            double at = Y(y, value);
            svg.Add(Line(Left, at, Width - Right, at, "grid"), Text(Left - 6, at + 4, label, "end"));
        }

        foreach ((double value, string label) in x.Ticks)
        {
            double at = X(x, value);
            svg.Add(Line(at, Height - Bottom, at, Height - Bottom + 4, "axis"),
                Text(at, Height - Bottom + 17, label, at + (label.Length * HalfCharacter) > Width ? "end" : "middle"));
        }

        const double Middle = (Left + Width - Right) / 2;
        const double Upright = (Top + Height - Bottom) / 2;
        svg.Add(
            Line(Left, Height - Bottom, Width - Right, Height - Bottom, "axis"),
            Text(Middle, Height - 8, x.Title, "middle", "title"),
            Html.Element(
                "text",
                Html.Class("title"),
                Html.Attribute("text-anchor", "middle"),
                Html.Attribute("transform", $"translate(13 {Numbers.Text(Upright)}) rotate(-90)"),
                Html.Text(y.Title)));
    }

    private static void DrawLine(XElement svg, ChartAxis x, ChartAxis y, ChartSeries series)
    {
        int slot = SeriesLook.SlotOf(series.Name);
        ChartPoint[] points = [.. series.Points.Where(point => x.Shows(point.X) && y.Shows(point.Y)).OrderBy(static point => point.X)];
        if (points.Length == 0)
        {
            return;
        }

        var group = Html.Element("g", Html.Class(SeriesLook.ColourClass(slot)));
        if (points.Length > 1)
        {
            group.Add(Html.Element(
                "polyline",
                Html.Class("line"),
                SeriesLook.DashOf(slot).Length > 0 ? Html.Attribute("stroke-dasharray", SeriesLook.DashOf(slot)) : null,
                Html.Attribute("points", string.Join(' ',
                    points.Select(point => $"{Numbers.Text(X(x, point.X))},{Numbers.Text(Y(y, point.Y))}")))));
        }

        foreach (ChartPoint point in points.Length > MostMarks ? [points[0], points[^1]] : points)
        {
            double at = X(x, point.X);
            if (point is { Low: { } low, High: { } high } && high > low && y.Shows(low))
            {
                double bottom = Y(y, low);
                double top = Y(y, high);
                group.Add(
                    Html.Element("path", Html.Class("whisker"),
                        Html.Attribute("d", $"M{Numbers.Text(at)} {Numbers.Text(bottom)}V{Numbers.Text(top)}M{Numbers.Text(at - 3)} "
                        + $"{Numbers.Text(bottom)}h6M{Numbers.Text(at - 3)} {Numbers.Text(top)}h6")));
            }

            group.Add(Html.Element("path", Html.Class("mark"), Html.Attribute("d", SeriesLook.MarkOf(slot, at, Y(y, point.Y)))));
        }

        svg.Add(group);
    }

    internal static XElement Line(double x1, double y1, double x2, double y2, string kind) => Html.Element(
        "line",
        Html.Class(kind),
        Html.Attribute("x1", Numbers.Text(x1)),
        Html.Attribute("y1", Numbers.Text(y1)),
        Html.Attribute("x2", Numbers.Text(x2)),
        Html.Attribute("y2", Numbers.Text(y2)));

    internal static XElement Text(double x, double y, string text, string anchor, string kind = "label") => Html.Element(
        "text",
        Html.Class(kind),
        Html.Attribute("x", Numbers.Text(x)),
        Html.Attribute("y", Numbers.Text(y)),
        Html.Attribute("text-anchor", anchor),
        Html.Text(text));
}
