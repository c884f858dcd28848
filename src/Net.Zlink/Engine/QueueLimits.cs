namespace Net.Zlink.Engine;

/// <summary>The limits of one peer's queue; 0 means no limit.</summary>
internal readonly record struct QueueLimits(int Messages, long Bytes)
{
    public bool IsFull(long messages, long bytes) =>
        messages > 0 && ((Messages > 0 && messages >= Messages) || (Bytes > 0 && bytes >= Bytes));

    public bool IsFullOfBytes(long messages, long bytes) => Messages == 0 || (messages < Messages && Bytes > 0 && bytes >= Bytes);

    public bool IsBelowLowMark(long messages, long bytes) =>
        (Messages == 0 || messages <= (Messages + 1L) / 2) && (Bytes == 0 || bytes <= Bytes / 2);

    public bool IsHalf(long messages, long bytes) =>
        (Messages > 0 && messages >= (Messages + 1L) / 2) || (Bytes > 0 && bytes >= Bytes / 2);

    public QueueLimits And(QueueLimits other) => new(
        Messages == 0 || other.Messages == 0 ? 0 : (int)Math.Min(int.MaxValue, (long)Messages + other.Messages),
        Bytes == 0 || other.Bytes == 0 ? 0 : Bytes > long.MaxValue - other.Bytes ? long.MaxValue : Bytes + other.Bytes);
}
