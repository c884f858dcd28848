namespace Net.Zlink.Buffers;

/// <summary>
/// The two presets, with their arithmetic. A keep limit is no reservation: a pool never keeps more than its users once held at the same
/// time, and idle buffers go. It is generous because a rejected buffer is a pinned one, which only a full collection frees.
/// </summary>
internal static class BufferPoolPresets
{
    private const int KiB = 1_024;
    private const int MiB = 1_024 * KiB;

    /// <summary>16 x 4,608 + 8 x 35,840 + 1 x 544,768 + 2 x 262,144 bytes = 1.4 MB warmed.</summary>
    internal static BufferClassPolicy[] Default { get; } = Build(static size => size switch
    {
        <= 1 * KiB => 16, // messages and the tails of incomplete frames: one thread cache's refill
        <= 8 * KiB => 8, // outbound arrays of a few busy connections
        <= 64 * KiB => 1,
        256 * KiB => 2, // the receive slabs of a small machine's shards
        _ => 0, // a small service may never see a large message
    }, keepBytes: 64 * MiB, keepCount: 16_384, TimeSpan.FromSeconds(30));

    /// <summary>2,048 x 4,608 + 512 x 35,840 + 32 x 544,768 + 32 x 114,688 + 2,949,120 + 19 x 262,144 + 5,750,784 bytes = 62.6 MB warmed.</summary>
    internal static BufferClassPolicy[] Server { get; } = Build(static size => size switch
    {
        <= 1 * KiB => 2_048, // a fifth of 10,000 connections inside an incomplete small frame at once, in each class
        <= 8 * KiB => 512, // outbound arrays in flight: bounded by what the shards flush at once, not by the connections
        16 * KiB or 32 * KiB or 64 * KiB => 64, // arrays of bursts, outbound and inproc; with 32 a flood still made the pool grow
        <= 64 * KiB => 32, // copies of what consumers still hold
        256 * KiB => 20, // the receive slabs of the shards, and those that consumers still hold messages of
        < MiB => 1, // large messages: one at a time before the pool grows
        _ => 0, // 1 to 8 MB each: only for those who send them
    }, keepBytes: 256 * MiB, keepCount: 65_536, TimeSpan.FromMinutes(5));

    private static BufferClassPolicy[] Build(Func<int, int> warmCount, int keepBytes, int keepCount, TimeSpan idle)
    {
        var policies = new BufferClassPolicy[SizeClasses.Count];
        for (int index = 0; index < policies.Length; index++)
        {
            int size = SizeClasses.Sizes[index];
            policies[index] = new BufferClassPolicy(warmCount(size), Math.Min(keepCount, keepBytes / size), idle);
        }

        return policies;
    }
}
