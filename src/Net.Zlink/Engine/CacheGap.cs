using System.Runtime.CompilerServices;

namespace Net.Zlink.Engine;

/// <summary>Padding that gives its neighbours cache lines of their own: one line, and the adjacent one that processors prefetch.</summary>
[InlineArray(PaddingLongs)]
internal struct CacheGap
{
    private const int PaddingLongs = 8;

    private long _first;
}
