namespace Net.Zlink.Engine;

internal enum FullCause
{
    /// <summary>The high-water mark.</summary>
    Messages,

    /// <summary>The queue's byte limit.</summary>
    Bytes,

    /// <summary>The context's byte limit.</summary>
    Context,
}
