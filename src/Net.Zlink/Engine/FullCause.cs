namespace Net.Zlink.Engine;

/// <summary>What a queue was full of.</summary>
internal enum FullCause
{
    /// <summary>Messages: it is at its high-water mark.</summary>
    Messages,

    /// <summary>Bytes: it is at its byte limit.</summary>
    Bytes,

    /// <summary>Neither: the context is at its own byte limit.</summary>
    Context,
}
