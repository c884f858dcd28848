using System.Runtime.CompilerServices;

namespace Net.Zlink.Engine;

/// <summary>
/// A cache line of padding. With the counts before it, which are seldom written, it keeps two lines between its neighbours: processors
/// prefetch the adjacent one.
/// </summary>
[InlineArray(PaddingLongs)]
internal struct CacheGap
{
    private const int PaddingLongs = 8;

    private long _first;
}
