using System.Globalization;
using System.Text;

namespace EchoServer;

/// <summary>A bar of character cells, filled from the left; block characters divide each cell in eight, '#' only fills it or not.</summary>
internal readonly record struct Bar(double Fraction, int Width, bool Blocks) : IUtf8SpanFormattable
{
    public override string ToString()
    {
        Span<byte> utf8 = stackalloc byte[3 * Width];
        TryFormat(utf8, out int length, default, CultureInfo.InvariantCulture);
        return Encoding.UTF8.GetString(utf8[..length]);
    }

    public bool TryFormat(Span<byte> utf8Destination, out int bytesWritten, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        bytesWritten = 0;
        int eighths = (int)Math.Round(Math.Clamp(Fraction, 0, 1) * Width * 8);
        for (int cell = 0; cell < Width; cell++, eighths -= 8)
        {
            Rune rune = Blocks ? Block(eighths) : new Rune(eighths >= 4 ? '#' : ' ');
            if (!rune.TryEncodeToUtf8(utf8Destination[bytesWritten..], out int written))
            {
                return false;
            }

            bytesWritten += written;
        }

        return true;
    }

    /// <summary>U+2588 is the full block; U+2589 to U+258F take an eighth away each.</summary>
    private static Rune Block(int eighths) => new(eighths <= 0 ? ' ' : (char)(0x2588 + 8 - Math.Min(8, eighths)));
}
