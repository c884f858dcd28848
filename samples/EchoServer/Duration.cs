using System.Globalization;
using System.Text;
using System.Text.Unicode;

namespace EchoServer;

/// <summary>
/// Nanoseconds, shown the way a person reads them: 840 ns, 24 us, 3.6 ms, 1.2 s; a dash below 0, for "nothing was measured".
/// Formats straight to UTF-8, so that a live line is composed without allocating.
/// </summary>
internal readonly record struct Duration(long Nanoseconds) : IUtf8SpanFormattable
{
    public override string ToString()
    {
        Span<byte> utf8 = stackalloc byte[32];
        TryFormat(utf8, out int length, default, CultureInfo.InvariantCulture);
        return Encoding.UTF8.GetString(utf8[..length]);
    }

    public bool TryFormat(Span<byte> utf8Destination, out int bytesWritten, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        (double value, string unit) = Nanoseconds switch
        {
            < 1_000 => (Nanoseconds, "ns"),
            < 1_000_000 => (Nanoseconds / 1e3, "us"),
            < 1_000_000_000 => (Nanoseconds / 1e6, "ms"),
            _ => (Nanoseconds / 1e9, "s"),
        };

        // Two or three digits say enough: one decimal below 10, none from there on.
        return value switch
        {
            < 0 => Utf8.TryWrite(utf8Destination, $"-", out bytesWritten),
            < 9.95 when Nanoseconds >= 1_000 => Utf8.TryWrite(utf8Destination, provider, $"{value:F1} {unit}", out bytesWritten),
            _ => Utf8.TryWrite(utf8Destination, provider, $"{value:F0} {unit}", out bytesWritten),
        };
    }
}
