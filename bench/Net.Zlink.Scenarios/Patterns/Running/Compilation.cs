using System.Runtime;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>Tells while code is being exercised whether the runtime still compiles it: what is called often is compiled twice more, in the
/// background, a tenth of a second after the last new method at the earliest.</summary>
/// <remarks>A flood that is measured before runs at a third of its rate for as long as it lasts (docs/benchmarks/log.md, "Compiled for
/// good").</remarks>
/// <param name="limit">However much is compiled then.</param>
/// <param name="time">The clock.</param>
/// <param name="methods">How many methods have been compiled so far.</param>
internal sealed class Compilation(TimeSpan limit, TimeProvider time, Func<long> methods)
{
    /// <summary>Three times what a flood over tcp took on two processors.</summary>
    public static readonly TimeSpan DefaultLimit = TimeSpan.FromSeconds(10);

    // Timers and the pool's adjustments bring about a handful now and then for as long as a process runs.
    private const int Few = 10;

    // Several of the runtime's own delays of 100 ms.
    private static readonly TimeSpan Quiet = TimeSpan.FromMilliseconds(500);

    private readonly long _start = time.GetTimestamp();
    private long _quietSince = time.GetTimestamp();
    private long _seen = methods();

    /// <summary>Of this process.</summary>
    public Compilation(TimeSpan limit)
        : this(limit, TimeProvider.System, static () => JitInfo.GetCompiledMethodCount())
    {
    }

    /// <summary>True while more should be exercised.</summary>
    public bool GoesOn
    {
        get
        {
            long now = methods();
            if (now - _seen >= Few)
            {
                _seen = now;
                _quietSince = time.GetTimestamp();
            }

            return time.GetElapsedTime(_quietSince) < Quiet && time.GetElapsedTime(_start) < limit;
        }
    }
}
