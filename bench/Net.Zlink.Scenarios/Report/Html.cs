using System.Text;
using System.Xml;
using System.Xml.Linq;

namespace Net.Zlink.Scenarios.Report;

/// <summary>Elements of a page. A tree instead of text: what comes out of a summary cannot end its element, whoever wrote it.</summary>
internal static class Html
{
    public static XElement Element(string name, params object?[] content) => new(name, content);

    public static XAttribute Class(string names) => new("class", names);

    public static XAttribute Attribute(string name, string value) => new(name, Clean(value));

    /// <summary>Text; characters that no XML or HTML may have become a sign that they were there.</summary>
    public static XText Text(string? text) => new(Clean(text ?? ""));

    public static XElement Cell(string text, bool isNumber = false) => Element("td", isNumber ? Class("number") : null, Text(text));

    public static XElement Table(IReadOnlyList<string> header, IEnumerable<IReadOnlyList<object>> rows) => Element(
        "div",
        Class("scroll"),
        Element(
            "table",
            Element("thead", Element("tr", header.Select(static title => Element("th", Attribute("scope", "col"), Text(title))))),
            Element("tbody", rows.Select(static row =>
                Element("tr", row.Select(static (cell, column) => cell as XElement is { } element ? Element("td", element)
                : Cell((string)cell, column > 0)))))));

    /// <summary>PASS, FAIL and what else needs no colour to be understood.</summary>
    public static XElement Chip(string text, string kind) =>
        Element("span", Class("chip " + kind), Text((kind switch { "good" => "\u2713 ", "bad" => "\u2717 ", _ => "! " }) + text));

    public static XElement Verdict(string passFail) => Chip(passFail, passFail is Results.ResultRow.Pass ? "good" : "bad");

    public static string Clean(string text)
    {
        if (text.All(XmlConvert.IsXmlChar))
        {
            return text;
        }

        var clean = new StringBuilder(text.Length);
        for (int i = 0; i < text.Length; i++)
        {
            if (i + 1 < text.Length && XmlConvert.IsXmlSurrogatePair(text[i + 1], text[i]))
            {
                clean.Append(text[i]).Append(text[++i]);
            }
            else
            {
                clean.Append(XmlConvert.IsXmlChar(text[i]) ? text[i] : '\uFFFD');
            }
        }

        return clean.ToString();
    }
}
