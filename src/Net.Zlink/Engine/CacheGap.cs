using System.Runtime.CompilerServices;

namespace Net.Zlink.Engine;

/// <summary>
/// Padding that gives its neighbours cache lines of their own: one line, and the adjacent one that processors prefetch. Relies on structs
/// being laid out as declared, after all other fields.
/// </summary>
[InlineArray(PaddingLongs)]
internal struct CacheGap
{
    // 128 bytes.
    private const int PaddingLongs = 16;

    private long _first;
}
