using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.Linq;
using Net.Zlink.Scenarios.Report;
using Net.Zlink.Scenarios.Results;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Report;

public sealed partial class ReportPageTests
{
    private const string Hostile = "</style><script>alert('x')</script>\" onload=\"x & \u0000 \uD800 | [a](http://x)";

    [Fact]
    public void Without_a_summary_the_page_says_so()
    {
        XElement page = Parsed();
        Assert.Contains("no summary was given", page.Value, StringComparison.Ordinal);
        Assert.Empty(page.Descendants("section"));
    }

    [Fact]
    public void A_page_of_many_kinds_is_well_formed_and_has_a_section_for_each()
    {
        XElement page = Parsed(Summaries.Scenario().Named("s2"), Summaries.Patterns().Named("patterns"), Summaries.Soak().Named("soak"),
            Summaries.Scenario("dotnet").Named("again"));
        Assert.Equal(4, page.Descendants("section").Count());
        Assert.True(page.Descendants("svg").Count() > 15);
        Assert.Contains(page.Descendants("figcaption"), static title => title.Value is "Latency by percentile (middle round)");
        Assert.Contains(page.Descendants("figcaption"), static title => title.Value is "PAIR: throughput");
        Assert.Contains("0.1.0+0123456789", page.Value, StringComparison.Ordinal);
    }

    [Fact]
    public void The_page_fetches_nothing_and_runs_nothing()
    {
        string page = ReportPage.Write([Summaries.Scenario().Named("s2"), Summaries.Patterns().Named("p"), Summaries.Soak().Named("soak")],
            DateTimeOffset.UnixEpoch);
        Assert.DoesNotMatch(Fetches(), page);
        Assert.DoesNotContain(Parsed(Summaries.Scenario().Named("s2")).Descendants(),
            static element => element.Name.LocalName is "script" or "link" or "img" or "iframe");
    }

    [Fact]
    public void Every_chart_says_what_it_shows_and_in_which_units()
    {
        XElement page = Parsed(Summaries.Scenario().Named("s2"), Summaries.Patterns().Named("p"), Summaries.Soak().Named("soak"));
        foreach (XElement figure in page.Descendants("figure"))
        {
            string title = Assert.Single(figure.Elements("figcaption")).Value;
            XElement chart = figure.Elements("svg").First();
            Assert.Contains(title, chart.Attribute("aria-label")!.Value, StringComparison.Ordinal);
            Assert.All(chart.Descendants("text").Where(static text => text.Attribute("class")!.Value is "title"),
                static axis => Assert.NotEmpty(axis.Value));
            Assert.True(chart.Descendants("text").Count(static text => text.Attribute("class")!.Value is "title") is 1 or 2, title);
            Assert.Equal(chart.Attribute("width")!.Value + " " + chart.Attribute("height")!.Value,
                chart.Attribute("viewBox")!.Value["0 0 ".Length..]);
        }
    }

    [Fact]
    public void No_text_is_smaller_than_12_pixels() =>
        Assert.All(FontSizes().Matches(ReportStyle.Css)
            .Select(static match => int.Parse(match.Groups["size"].Value, System.Globalization.CultureInfo.InvariantCulture)),
            static size => Assert.True(size >= 12, $"{size} px"));

    [Fact]
    public void Hostile_names_stay_text_everywhere()
    {
        Summary summary = Summaries.Scenario(Hostile, failed: true) with
        {
            Command = Hostile,
            Doubts = [Hostile],
            Unjudged = [Hostile],
            Skipped = [new SkippedStack(Hostile, Hostile)],
            Environment = new Dictionary<string, string>(StringComparer.Ordinal) { [Hostile] = Hostile },
        };
        XElement page = Parsed(summary.Named(Hostile), (Summaries.Soak(ResultRow.Fail) with { Command = Hostile }).Named(Hostile));
        Assert.DoesNotContain(page.Descendants(), static element => element.Name.LocalName is "script");
        Assert.DoesNotContain(page.DescendantsAndSelf().Attributes(),
            static attribute => attribute.Name.LocalName.StartsWith("on", StringComparison.Ordinal));
        Assert.Contains("<script>alert('x')</script>", page.Value, StringComparison.Ordinal);
        Assert.DoesNotContain("<script", ReportPage.Write([summary.Named(Hostile)], DateTimeOffset.UnixEpoch),
            StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public void A_failure_stands_at_the_top_in_its_section_at_its_bar_and_in_its_round()
    {
        XElement page = Parsed(Summaries.Scenario().Named("good one"), Summaries.Scenario("kestrel", failed: true).Named("bad one"));
        XElement top = page.Descendants("div").First(static element => element.Attribute("class")?.Value is "banner bad");
        Assert.StartsWith("\u2717 FAIL: 1 of 2 runs failed", top.Value, StringComparison.Ordinal);
        Assert.Contains("bad one", top.Value, StringComparison.Ordinal);
        Assert.DoesNotContain("good one", top.Value, StringComparison.Ordinal);
        XElement section = page.Descendants("section").Last();
        Assert.Contains("FAIL", section.Element("h2")!.Value, StringComparison.Ordinal);
        Assert.Contains(section.Descendants("text"), static text => text.Value is "\u2717 FAIL");
        Assert.Contains("without a right reply 10", section.Value, StringComparison.Ordinal);
        Assert.DoesNotContain("FAIL", page.Descendants("section").First().Value, StringComparison.Ordinal);
    }

    [Fact]
    public void A_soak_that_failed_shows_its_slope_and_its_fault()
    {
        XElement section = Parsed(Summaries.Soak(ResultRow.Fail).Named("soak")).Descendants("section").Single();
        Assert.Contains("3 buffers of the pool are still out", section.Value, StringComparison.Ordinal);
        Assert.Contains(section.Descendants("tr"), static row => row.Value.StartsWith("handles120.002.00", StringComparison.Ordinal)
            && row.Value.EndsWith("FAIL", StringComparison.Ordinal));
    }

    [Fact]
    public void Figures_that_are_void_are_said_to_be_although_the_run_passed()
    {
        XElement page = Parsed((Summaries.Scenario() with { Doubts = ["other programs used 60 % of the machine"] }).Named("s2"));
        Assert.DoesNotContain(page.Descendants("div"), static element => element.Attribute("class")?.Value is "banner good");
        Assert.Contains("void by their own rules", page.Value, StringComparison.Ordinal);
        Assert.Contains("other programs used 60 % of the machine", page.Value, StringComparison.Ordinal);
    }

    [Fact]
    public void A_criterion_that_was_not_judged_is_shown_and_voids_no_result()
    {
        Summary summary = Summaries.Scenario() with { Unjudged = ["what other programs used"] };
        XElement page = Parsed(summary.Named("s2"));
        Assert.Contains("Not judged:what other programs used", page.Value, StringComparison.Ordinal);
        Assert.Contains(page.Descendants("div"), static element => element.Attribute("class")?.Value is "banner good");
        Assert.Contains("Not judged: what other programs used.", MarkdownTables.Write([summary.Named("s2")]), StringComparison.Ordinal);
    }

    [Fact]
    public void Markdown_keeps_hostile_names_in_their_cells_and_shows_a_failure()
    {
        string text = MarkdownTables.Write([Summaries.Scenario("a|b\nc<d", failed: true).Named("x"), Summaries.Patterns().Named("p"),
            Summaries.Soak().Named("s")]);
        Assert.Contains("### x: FAIL", text, StringComparison.Ordinal);
        string row = Assert.Single(text.Split('\n'), static line => line.StartsWith("| a", StringComparison.Ordinal));
        Assert.StartsWith("| a\\|b c\\<d ", row, StringComparison.Ordinal);
        Assert.EndsWith(" FAIL |", row.TrimEnd(), StringComparison.Ordinal);
        Assert.Contains("PAIR tcp 256 KiB", text, StringComparison.Ordinal);
    }

    private static XElement Parsed(params ReportInput[] inputs)
    {
        string page = ReportPage.Write(inputs, DateTimeOffset.UnixEpoch);
        Assert.StartsWith("<!DOCTYPE html>\n<html", page, StringComparison.Ordinal);
        using var reader = XmlReader.Create(new StringReader(page["<!DOCTYPE html>\n".Length..]),
            new XmlReaderSettings { DtdProcessing = DtdProcessing.Prohibit });
        return XElement.Load(reader);
    }

    [GeneratedRegex("(src|href)=\"(?!#)|url\\(|@import|https?:|<script", RegexOptions.IgnoreCase | RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 5_000)]
    private static partial Regex Fetches();

    [GeneratedRegex("font(-size)?:[^;}]*?(?<size>[0-9]+)px", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 5_000)]
    private static partial Regex FontSizes();
}
