using System.Runtime.CompilerServices;

namespace Net.Zlink.Engine;

/// <summary>A field that keeps its neighbours on cache lines of their own: one line, and the one that processors fetch with it. Counts on the runtime laying structs out as declared, behind all other fields.</summary>
[InlineArray(PaddingLongs)]
internal struct CacheGap
{
    // 128 bytes.
    private const int PaddingLongs = 16;

    private long _first;
}
