using System.Globalization;
using System.Text;
using System.Text.Unicode;

namespace EchoServer;

/// <summary>Garbage collections of the process by generation, shown as 12/3/0.</summary>
internal readonly record struct GcCounts(int Gen0, int Gen1, int Gen2) : IUtf8SpanFormattable
{
    /// <summary>Since the process started.</summary>
    public static GcCounts Now => new(GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2));

    public static GcCounts operator -(GcCounts after, GcCounts before) =>
        new(after.Gen0 - before.Gen0, after.Gen1 - before.Gen1, after.Gen2 - before.Gen2);

    public override string ToString()
    {
        Span<byte> utf8 = stackalloc byte[48];
        TryFormat(utf8, out int length, default, CultureInfo.InvariantCulture);
        return Encoding.UTF8.GetString(utf8[..length]);
    }

    public bool TryFormat(Span<byte> utf8Destination, out int bytesWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        Utf8.TryWrite(utf8Destination, provider, $"{Gen0}/{Gen1}/{Gen2}", out bytesWritten);
}
