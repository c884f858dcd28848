using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>Something a server must reach.</summary>
/// <param name="Case">In which case; null: in each that has the figure.</param>
/// <param name="Server">Whose figure.</param>
/// <param name="Metric">Which figure.</param>
/// <param name="AtLeast">True: as much or more is good; false: as much or less.</param>
/// <param name="Value">A ratio to <paramref name="Reference"/>, or the figure itself.</param>
/// <param name="IsRatio">Whether <paramref name="Value"/> is a ratio.</param>
/// <param name="Reference">The server that the ratio is to; null: the first one.</param>
internal sealed record Bar(string? Case, string Server, Metric Metric, bool AtLeast, double Value, bool IsRatio, string? Reference)
{
    private const string Usage =
        "Write SERVER:FIGURE>=1.05x (times the first server's), SERVER:FIGURE<=0.7x@OTHER (times another's) or SERVER:FIGURE<=120 (the "
        + "figure itself); CASE/SERVER:... for one case only.";

    public static Bar Parse(string text)
    {
        int colon = text.IndexOf(':', StringComparison.Ordinal);
        int sign = text.IndexOf('=', StringComparison.Ordinal) - 1;
        if (colon <= 0 || sign <= colon || text[sign] is not '<' and not '>')
        {
            throw new RequestException($"The bar '{text}' is not understood. {Usage}");
        }

        string value = text[(sign + 2)..];
        int at = value.IndexOf('@', StringComparison.Ordinal);
        string? reference = at < 0 ? null : value[(at + 1)..];
        string number = at < 0 ? value : value[..at];
        bool isRatio = number.EndsWith('x');
        if (!double.TryParse(number.TrimEnd('x'), NumberStyles.Float, CultureInfo.InvariantCulture, out double limit)
            || (reference is not null && !isRatio))
        {
            throw new RequestException($"The bar '{text}' is not understood. {Usage}");
        }

        int slash = text.IndexOf('/', StringComparison.Ordinal);
        string? what = slash < 0 || slash > colon ? null : text[..slash];
        string server = what is null ? text[..colon] : text[(slash + 1)..colon];
        return new Bar(what, server, Metric.Parse(text[(colon + 1)..sign]), text[sign] == '>', limit, isRatio, reference);
    }

    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture,
            $"{(Case is null ? "" : Case + "/")}{Server} {Metric.Name} {(AtLeast ? ">=" : "<=")} "
            + $"{Value}{(IsRatio ? "x" : "")}{(Reference is null ? "" : "@" + Reference)}");

    public bool IsReachedBy(double figure) => AtLeast ? figure >= Value : figure <= Value;
}
