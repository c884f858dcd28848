using System.Globalization;

namespace Net.Zlink.Scenarios.Report.Charts;

/// <summary>Coordinates.</summary>
internal static class Numbers
{
    /// <summary>A tenth of a pixel is enough.</summary>
    public static string Text(double number) => Math.Round(number, 1).ToString("0.#", CultureInfo.InvariantCulture);
}
