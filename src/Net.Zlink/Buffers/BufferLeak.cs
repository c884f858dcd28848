namespace Net.Zlink.Buffers;

/// <summary>
/// A buffer in use, as <see cref="BufferPool.GetOutstanding"/> reports it with <see cref="BufferPoolOptions.LeakCheck"/>.
/// </summary>
/// <param name="Length">Its length in bytes: the class size, or the exact size above the largest class.</param>
/// <param name="RentedAt">When it was rented, by the pool's clock.</param>
/// <param name="ThreadId">The managed id of the thread that rented it.</param>
/// <param name="RentedBy">The stack of the call that rented it, one frame per line.</param>
public sealed record BufferLeak(int Length, DateTimeOffset RentedAt, int ThreadId, string RentedBy);
