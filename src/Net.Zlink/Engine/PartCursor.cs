namespace Net.Zlink.Engine;

/// <summary>A position in the parts of an <see cref="OutgoingMessage"/>; starts as default.</summary>
/// <remarks>
/// In an encoded message only the earlier parts tell where a part begins. A search from the start each time took seconds for 100,000 parts.
/// </remarks>
internal struct PartCursor
{
    public int Index;

    public int Position;

    public int Donated;
}
