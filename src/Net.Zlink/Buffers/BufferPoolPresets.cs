namespace Net.Zlink.Buffers;

/// <summary>
/// A limit reserves nothing: a pool retains at most what was once in use. Limits are high because a rejected buffer is pinned, and only a
/// full collection frees it.
/// </summary>
internal static class BufferPoolPresets
{
    private const int KiB = 1_024;
    private const int MiB = 1_024 * KiB;

    /// <summary>16 x 4,608 + 8 x 35,840 + 1 x 544,768 + 2 x 262,144 bytes = 1.4 MB warmed.</summary>
    internal static BufferClassPolicy[] Default { get; } = Build(static size => size switch
    {
        <= 1 * KiB => 16, // messages and tails of incomplete frames: one refill of a thread cache
        <= 8 * KiB => 8, // outbound arrays of a few busy connections
        <= 64 * KiB => 1,
        256 * KiB => 2, // receive slabs of a small machine's shards
        _ => 0, // a small service may never receive a large message
    }, keepBytes: 64 * MiB, keepCount: 16_384, TimeSpan.FromSeconds(30));

    /// <summary>
    /// 2,048 x 4,608 + 512 x 35,840 + 32 x 544,768 + 32 x 114,688 + 2,949,120 + 19 x 262,144 + 5,750,784 bytes = 62.6 MB warmed.
    /// </summary>
    internal static BufferClassPolicy[] Server { get; } = Build(static size => size switch
    {
        <= 1 * KiB => 2_048, // a fifth of 10,000 connections with an incomplete small frame, in each class
        <= 8 * KiB => 512, // outbound arrays in flight: limited by the shards, not by the connections
        16 * KiB or 32 * KiB or 64 * KiB => 64, // bursts, outbound and inproc; with 32 a flood still grew the pool
        <= 64 * KiB => 32, // copies of messages that consumers retain
        256 * KiB => 20, // receive slabs, also those of messages that consumers retain
        < MiB => 1, // large messages: one before the pool grows
        _ => 0, // 1 to 8 MB each: only for their senders
    }, keepBytes: 256 * MiB, keepCount: 65_536, TimeSpan.FromMinutes(5));

    private static BufferClassPolicy[] Build(Func<int, int> warmCount, int keepBytes, int keepCount, TimeSpan idle)
    {
        var policies = new BufferClassPolicy[SizeClasses.Count];
        for (int index = 0; index < policies.Length; index++)
        {
            int size = SizeClasses.Sizes[index];
            policies[index] = new BufferClassPolicy
            {
                WarmCount = warmCount(size),
                KeepLimit = Math.Min(keepCount, keepBytes / size),
                TrimAfterIdle = idle,
            };
        }

        return policies;
    }
}
