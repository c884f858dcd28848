namespace Net.Zlink.Buffers;

/// <summary>
/// A buffer that is out, as <see cref="BufferPool.GetOutstanding"/> reports it under <see cref="BufferPoolOptions.LeakCheck"/>.
/// </summary>
/// <param name="Length">The buffer's length in bytes: its class size, or the exact size beyond the largest class.</param>
/// <param name="RentedAt">When it was rented, by the pool's clock.</param>
/// <param name="ThreadId">The managed id of the thread that rented it.</param>
/// <param name="RentedBy">The stack of the call that rented it, one frame a line.</param>
public sealed record BufferLeak(int Length, DateTimeOffset RentedAt, int ThreadId, string RentedBy);
