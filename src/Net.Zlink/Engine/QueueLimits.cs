namespace Net.Zlink.Engine;

/// <summary>How much may wait for one peer: messages and bytes, 0 meaning no limit. At least one message always fits.</summary>
internal readonly record struct QueueLimits(int Messages, long Bytes)
{
    /// <summary>True if a queue that holds this much takes no further message.</summary>
    public bool IsFull(long messages, long bytes) =>
        messages > 0 && ((Messages > 0 && messages >= Messages) || (Bytes > 0 && bytes >= Bytes));

    /// <summary>Of a queue that was full a moment ago, and may have emptied a little since: true if it was so for its bytes alone.</summary>
    public bool IsFullOfBytes(long messages, long bytes) => Messages == 0 || (messages < Messages && Bytes > 0 && bytes >= Bytes);

    /// <summary>True if the queue has emptied to half of each limit: a reader that was stopped goes on (docs/protocol.md, high-water marks).</summary>
    public bool IsBelowLowMark(long messages, long bytes) =>
        (Messages == 0 || messages <= (Messages + 1L) / 2) && (Bytes == 0 || bytes <= Bytes / 2);

    /// <summary>True if so much is half of a limit: whoever takes tells the other side no later (docs/protocol.md, high-water marks).</summary>
    public bool IsHalf(long messages, long bytes) =>
        (Messages > 0 && messages >= (Messages + 1L) / 2) || (Bytes > 0 && bytes >= Bytes / 2);

    /// <summary>The room of two queues that are one: the sum, or none where either has no limit.</summary>
    public QueueLimits And(QueueLimits other) => new(
        Messages == 0 || other.Messages == 0 ? 0 : (int)Math.Min(int.MaxValue, (long)Messages + other.Messages),
        Bytes == 0 || other.Bytes == 0 ? 0 : Bytes > long.MaxValue - other.Bytes ? long.MaxValue : Bytes + other.Bytes);
}
