using System.Globalization;

namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>What the measuring programs print: RESULT,name,pattern,transport,size,figure,value.</summary>
internal static class ResultLines
{
    public const string Prefix = "RESULT,";

    private const int Fields = 7;

    /// <summary>The figure and its value.</summary>
    public static bool TryParse(string line, out string figure, out double value)
    {
        string[] fields = line.Split(',');
        figure = "";
        value = 0;
        if (fields.Length != Fields || !line.StartsWith(Prefix, StringComparison.Ordinal))
        {
            return false;
        }

        figure = fields[^2];
        return double.TryParse(fields[^1], NumberStyles.Float, CultureInfo.InvariantCulture, out value) && value > 0;
    }
}
