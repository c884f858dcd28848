using System.Xml.Linq;

namespace Net.Zlink.Scenarios.Report.Charts;

/// <summary>Which look is whose.</summary>
internal static class Legend
{
    private const double Width = 26;
    private const double Height = 14;

    /// <param name="names">In the order in which they are drawn.</param>
    public static XElement Draw(IEnumerable<string> names) =>
        Html.Element("ul", Html.Class("legend"), names.Select(
        name => Html.Element("li", Swatch(SeriesLook.SlotOf(name)), Html.Text(name))));

    private static XElement Swatch(int slot) => Html.Element(
        "svg",
        Html.Attribute("width", Numbers.Text(Width)),
        Html.Attribute("height", Numbers.Text(Height)),
        Html.Attribute("aria-hidden", "true"),
        Html.Element(
            "g",
            Html.Class(SeriesLook.ColourClass(slot)),
            Html.Element(
                "polyline",
                Html.Class("line"),
                SeriesLook.DashOf(slot).Length > 0 ? Html.Attribute("stroke-dasharray", SeriesLook.DashOf(slot)) : null,
                Html.Attribute("points", $"0,{Numbers.Text(Height / 2)} {Numbers.Text(Width)},{Numbers.Text(Height / 2)}")),
            Html.Element("path", Html.Class("mark"), Html.Attribute("d", SeriesLook.MarkOf(slot, Width / 2, Height / 2)))));
}
