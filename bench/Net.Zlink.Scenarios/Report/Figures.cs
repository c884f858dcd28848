using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Report;

/// <summary>Numbers as people read them; the same in every language, as the report is in one.</summary>
internal static class Figures
{
    private const double Kilo = 1e3;
    private const double Mega = 1e6;
    private const double Giga = 1e9;

    // From here on a decimal of k, M or G says nothing.
    private const double NoDecimal = 100;

    /// <summary>Three digits and a letter: 1.23M.</summary>
    public static string Short(double value) => Math.Abs(value) switch
    {
        0 => "0",
        >= Giga => Three(value / Giga) + "G",
        >= Mega => Three(value / Mega) + "M",
        >= Kilo => Three(value / Kilo) + "k",
        _ => Three(value),
    };

    public static string Bytes(int size) => size >= 1024 && size % 1024 == 0
        ? string.Create(CultureInfo.InvariantCulture, $"{size / 1024} KiB")
        : string.Create(CultureInfo.InvariantCulture, $"{size} B");

    /// <summary>As <see cref="Bytes"/>, for axes: 64K.</summary>
    public static string ShortBytes(int size) => size >= 1024 && size % 1024 == 0
        ? string.Create(CultureInfo.InvariantCulture, $"{size / 1024}K")
        : size.ToString(CultureInfo.InvariantCulture);

    public static string Full(double? value, string format = "N0") => value is { } number
        ? number.ToString(format, CultureInfo.InvariantCulture) : "-";

    public static string Full(Spread? spread, string format = "N0")
    {
        if (spread is not { } s)
        {
            return "-";
        }

        string median = s.Median.ToString(format, CultureInfo.InvariantCulture);
        return s.Min.Equals(s.Max) ? median
            : $"{median} ({s.Min.ToString(format, CultureInfo.InvariantCulture)}..{s.Max.ToString(format, CultureInfo.InvariantCulture)})";
    }

    private static string Three(double value) => Math.Abs(value) switch
    {
        >= NoDecimal => value.ToString("0", CultureInfo.InvariantCulture),
        >= 10 => value.ToString("0.#", CultureInfo.InvariantCulture),
        >= 1 => value.ToString("0.##", CultureInfo.InvariantCulture),
        _ => value.ToString("0.###", CultureInfo.InvariantCulture),
    };
}
