using System.Diagnostics.Metrics;
using System.Text.RegularExpressions;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>The table of docs/monitoring.md has each instrument of a context, with what a collector shows of it.</summary>
public sealed partial class MetricsPageTests
{
    [Fact]
    public async Task The_page_has_each_instrument_with_its_unit_and_description_and_no_other()
    {
        string page = await File.ReadAllTextAsync(
            Path.Combine(Repository.Root, "docs", "monitoring.md"), TestContext.Current.CancellationToken);
        string[] rows = [.. Row().Matches(page).Select(static row => $"{row.Groups["name"]} {row.Groups["kind"]}: {row.Groups["text"]}")];
        string[] instruments =
        [
            .. (await InstrumentsAsync()).Select(static one => $"{one.Name} {one.Unit!.Trim('{', '}')}: {one.Description}"),
        ];
        Assert.Equal(instruments.Order(StringComparer.Ordinal), rows.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task A_description_is_a_sentence_that_needs_no_other_one()
    {
        foreach (Instrument one in await InstrumentsAsync())
        {
            Assert.Matches("^(?!Their|Those|It|Its|They)[A-Z].*\\.$", one.Description!);
            Assert.True(one.Description!.Split(' ').Length >= 5, $"{one.Name}: {one.Description}");
        }
    }

    /// <summary>Of a context with a gateway: the first object of the services makes the instruments of all.</summary>
    private static async Task<List<Instrument>> InstrumentsAsync()
    {
        await using var context = new ZlinkContext();
        await using var gateway = new ServiceGateway(context, new StaticDirectory());
        List<Instrument> instruments = [];
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, _) =>
        {
            if (ReferenceEquals(instrument.Meter, context.Meter))
            {
                instruments.Add(instrument);
            }
        };
        listener.Start();
        return instruments;
    }

    [GeneratedRegex(@"^\| `(?<name>(?:zlink|messaging)\.[a-z_.]+)` \| (?<kind>[a-zA-Z]+) \|[^|]*\| (?<text>.*?) \|$",
        RegexOptions.Multiline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Row();
}
