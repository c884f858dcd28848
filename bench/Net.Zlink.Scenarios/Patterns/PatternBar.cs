using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;

namespace Net.Zlink.Scenarios.Patterns;

/// <summary>Something that our side of a pattern must reach, as a ratio to the native one or as the figure itself.</summary>
internal static class PatternBar
{
    /// <summary>The sets that have a name.</summary>
    public static string[] Presets { get; } = ["issue", "services"];

    /// <summary>PATTERN/TRANSPORT/SIZE:FIGURE>=2.5x, each of the three also as an asterisk.</summary>
    public static Bar Parse(string text)
    {
        int colon = text.IndexOf(':', StringComparison.Ordinal);
        if (colon <= 0 || text.AsSpan(0, colon).Count('/') != 2)
        {
            throw new RequestException(
                $"The bar '{text}' is not understood. Write PATTERN/TRANSPORT/SIZE:FIGURE>=2.5x, with rate or latency for FIGURE, and * "
                + $"for any pattern, transport or size.");
        }

        Bar bar = Bar.Parse(PatternStack.Managed + text[colon..]) with { Case = text[..colon] };
        return bar.Reference is not null and not PatternStack.Native || (bar.Metric != Metric.Rate && bar.Metric != Metric.Latency)
            ? throw new RequestException(
                $"The bar '{text}' is not understood. There are rate and latency, as a figure or as a ratio to the native library's.")
            : bar;
    }

    /// <summary>The bars of a preset.</summary>
    public static IEnumerable<Bar> Preset(string name)
    {
        // docs/benchmarks.md, "The patterns": what was promised for the first release with these sockets.
        string[] floods = [PatternNames.Pair, PatternNames.DealerDealer, PatternNames.DealerRouter, PatternNames.RouterRouter,
            PatternNames.PubSub];
        string[] lines = string.Equals(name, Presets[0], StringComparison.OrdinalIgnoreCase)
            ?
            [
                .. floods.SelectMany(pattern => new[] { $"{pattern}/tcp/64:rate>=2.5x", $"{pattern}/tcp/1024:rate>=2x",
                    $"{pattern}/tcp/65536:rate>=1x" }),
                "ROUTER_ROUTER_POLL/tcp/64:rate>=2.5x",
                .. PatternNames.OfSockets.SelectMany(static pattern => new[] { $"{pattern}/inproc/1024:rate>=1.5x",
                    $"{pattern}/inproc/64:rate>=1.5x", $"{pattern}/tcp/64:latency<=1.2x" })
                    .Where(static line => !line.StartsWith("STREAM/inproc", StringComparison.Ordinal)
                        && !line.StartsWith("PUBSUB/tcp/64:latency", StringComparison.Ordinal)),
            ]
            : string.Equals(name, Presets[1], StringComparison.OrdinalIgnoreCase)
            ?
            [
                "GATEWAY/tcp/64:rate>=3x",
                "GATEWAY/tcp/1024:rate>=3x",
                "GATEWAY/ipc/64:rate>=3x",
                "GATEWAY/tls/64:rate>=2x",
                "GATEWAY/ws/64:rate>=2x",
                "GATEWAY_REQUEST/tcp/64:latency<=1.2x",
                "SPOT/tcp/64:rate>=3x",
            ]
            : throw new RequestException($"There are no bars '{name}'; there are {string.Join(", ", Presets)}.");
        return lines.Select(Parse);
    }

    /// <summary>A bar that is about nothing would pass for one that is met.</summary>
    /// <param name="bars">As given: each must be about a case.</param>
    /// <param name="presets">Sets of bars; of a set some must be, the others are for patterns that are not run.</param>
    /// <param name="cases">What is run.</param>
    /// <exception cref="RequestException">One is about none.</exception>
    public static void CheckAbout(IEnumerable<Bar> bars, IEnumerable<string> presets, IReadOnlyCollection<PatternCase> cases)
    {
        if (bars.FirstOrDefault(bar => !cases.Any(bar.IsAbout)) is { } bar)
        {
            throw new RequestException(
                $"The bar {bar.Case}:{bar.Metric.Name} is about no case that is run. Look at its pattern, transport and size; PUBSUB has "
                + $"no latency.");
        }

        if (presets.FirstOrDefault(name => !Preset(name).Any(one => cases.Any(one.IsAbout))) is { } preset)
        {
            throw new RequestException($"None of the bars '{preset}' is about a case that is run.");
        }
    }

    /// <summary>Whether the bar is about that case.</summary>
    public static bool IsAbout(this Bar bar, PatternCase what)
    {
        string[] parts = bar.Case!.Split('/');
        return Fits(parts[0], what.Pattern) && Fits(parts[1], what.Transport)
            && Fits(parts[2], what.Size.ToString(CultureInfo.InvariantCulture))
            && (bar.Metric != Metric.Latency || what.Pattern is not PatternNames.PubSub);
    }

    private static bool Fits(string pattern, string value) => string.Equals(pattern, "*", StringComparison.Ordinal)
        || string.Equals(pattern, value, StringComparison.OrdinalIgnoreCase);
}
