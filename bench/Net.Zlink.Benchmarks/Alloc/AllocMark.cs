using System.Text.Json.Serialization;
using Net.Zlink.Buffers;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>What the measured process has allocated and collected so far.</summary>
/// <param name="Bytes">All of it.</param>
/// <param name="PoolArrays">Arrays that the buffer pool made, by size: it grows with the longest queue so far, not with the
/// messages.</param>
/// <param name="PoolRejected">Arrays that came back to the pool and were not kept: with a number here the growth is no growth but
/// churn.</param>
/// <param name="Gen0">Collections of that generation only, as in the next two.</param>
/// <param name="Gen1">See <paramref name="Gen0"/>.</param>
/// <param name="Gen2">See <paramref name="Gen0"/>.</param>
/// <param name="Messages">Messages that came in.</param>
/// <param name="ReceiveWaits">Receives that were not complete at once.</param>
/// <param name="SendWaits">Sends that were not complete at once.</param>
internal sealed record AllocMark(long Bytes, IReadOnlyDictionary<int, long> PoolArrays, long PoolRejected, int Gen0, int Gen1, int Gen2,
    long Messages, long ReceiveWaits, long SendWaits)
{
    [JsonIgnore]
    public long PoolBytes => PoolArrays.Sum(one => one.Key * one.Value);

    [JsonIgnore]
    public string PoolGrowth => string.Join(", ", PoolArrays.Select(one => $"{one.Value} x {one.Key:N0}"));

    public static AllocMark Now(EchoCounts counts, BufferPool pool)
    {
        // First the bytes: what the rest of the mark allocates, a few KB, then counts only where the mark is the earlier one.
        long bytes = GC.GetTotalAllocatedBytes(precise: true);
        BufferPoolStatistics statistics = pool.GetStatistics();
        return new AllocMark(
            bytes,
            statistics.Classes.ToDictionary(one => one.Size, one => one.Allocated),
            statistics.Rejected,
            GC.CollectionCount(0) - GC.CollectionCount(1),
            GC.CollectionCount(1) - GC.CollectionCount(2),
            GC.CollectionCount(2),
            Interlocked.Read(ref counts.Messages),
            Interlocked.Read(ref counts.ReceiveWaits),
            Interlocked.Read(ref counts.SendWaits));
    }

    public AllocMark Since(AllocMark before) => new(
        Bytes - before.Bytes,
        PoolArrays.Select(one => (Size: one.Key, Made: one.Value - before.PoolArrays[one.Key])).Where(one => one.Made > 0)
            .ToDictionary(one => one.Size, one => one.Made),
        PoolRejected - before.PoolRejected,
        Gen0 - before.Gen0,
        Gen1 - before.Gen1,
        Gen2 - before.Gen2,
        Messages - before.Messages,
        ReceiveWaits - before.ReceiveWaits,
        SendWaits - before.SendWaits);
}

/// <summary>What the measured process itself counts: how often it really waited proves which path was measured.</summary>
internal sealed class EchoCounts
{
    public long Messages;
    public long ReceiveWaits;
    public long SendWaits;
}
