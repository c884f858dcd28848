namespace Net.Zlink.Engine;

/// <summary>
/// In an encoded message only the earlier parts tell where a part begins: a search from the start took seconds for 100,000 parts.
/// </summary>
internal struct PartCursor
{
    public int Index;

    public int Position;

    public int Donated;
}
