using System.Diagnostics.CodeAnalysis;
using System.Globalization;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>What measuring programs print: RESULT,stack,pattern,transport,size,figure,value.</summary>
/// <param name="Stack">net-zlink, native, or what a native program was told.</param>
/// <param name="Pattern">PAIR ..., with MULTI_ before it where there are many clients.</param>
/// <param name="Transport">tcp ...</param>
/// <param name="Size">Payload bytes.</param>
/// <param name="Figure"><see cref="ResultLines.Throughput"/> or <see cref="ResultLines.Latency"/>, or another.</param>
/// <param name="Value">Above 0: native programs print 0 for what they could not measure.</param>
internal sealed record ResultLine(string Stack, string Pattern, string Transport, int Size, string Figure, double Value)
{
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture, $"{ResultLines.Prefix}{Stack},{Pattern},{Transport},{Size},{Figure},{Value:F2}");
}

/// <summary>Reads them.</summary>
internal static class ResultLines
{
    public const string Prefix = "RESULT,";

    /// <summary>Messages per second.</summary>
    public const string Throughput = "throughput";

    /// <summary>Microseconds one way.</summary>
    public const string Latency = "latency";

    /// <summary>The line of a program that cannot measure what it was asked for: this, then why.</summary>
    public const string Unsupported = "UNSUPPORTED ";

    private const int Fields = 7;

    public static bool TryParse(string line, [NotNullWhen(true)] out ResultLine? result)
    {
        string[] fields = line.Split(',');
        result = fields.Length == Fields
            && line.StartsWith(Prefix, StringComparison.Ordinal)
            && int.TryParse(fields[4], NumberStyles.None, CultureInfo.InvariantCulture, out int size)
            && double.TryParse(fields[6], NumberStyles.Float, CultureInfo.InvariantCulture, out double value)
            && double.IsFinite(value)
            && value > 0
                ? new ResultLine(fields[1], fields[2], fields[3], size, fields[5], value)
                : null;
        return result is not null;
    }
}
