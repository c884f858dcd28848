using System.Globalization;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>What a row measured in a round, and its limit.</summary>
/// <param name="Name">With its unit.</param>
/// <param name="Value">Measured.</param>
/// <param name="Limit">Null: only for information.</param>
/// <param name="AtLeast">Whether less than the limit fails, rather than more.</param>
internal sealed record AttackFigure(string Name, double Value, double? Limit, bool AtLeast = false)
{
    public bool Passed => Limit is not { } limit || (AtLeast ? Value >= limit : Value <= limit);

    public string LimitText => Limit is not { } limit ? "-"
        : string.Create(CultureInfo.InvariantCulture, $"{(AtLeast ? "at least" : "at most")} {limit:0.##}");

    /// <summary>The worse one of two rounds; NaN is the worst.</summary>
    public AttackFigure Worse(AttackFigure other) => double.IsNaN(Value) || (AtLeast ? Value <= other.Value : Value >= other.Value) ? this
        : other;
}
