namespace Net.Zlink.Engine;

/// <summary>Where a walk over the parts of an <see cref="OutgoingMessage"/> is; begins as default.</summary>
/// <remarks>An encoded message knows where a part begins only from the parts before it: found from the front each time, 100,000 parts of one byte took seconds under a lock.</remarks>
internal struct PartCursor
{
    /// <summary>The part that comes next.</summary>
    public int Index;

    /// <summary>Where its header is, of an encoded message.</summary>
    public int Position;

    /// <summary>How many handed-over parts lie behind.</summary>
    public int Donated;
}
