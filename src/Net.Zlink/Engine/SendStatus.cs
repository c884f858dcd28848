namespace Net.Zlink.Engine;

/// <summary>What became of one send.</summary>
internal enum SendStatus
{
    /// <summary>Accepted: it will be written in order, or counted as dropped with a cause.</summary>
    Accepted,

    /// <summary>The peer is at its high-water mark, in messages or in bytes.</summary>
    Full,

    /// <summary>The peer is closing or gone.</summary>
    Closed,

    /// <summary>The peer is raw bytes: frames do not apply.</summary>
    NotFramed,
}
