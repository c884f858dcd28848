namespace Net.Zlink.Protocol.WebSocket;

/// <summary>
/// A peer's upgrade request: keeps just the bytes, at most 32 KiB, for the connection's life, and parses them on each access.
/// </summary>
internal sealed class UpgradeHead(byte[] head)
{
    public string Path => UpgradeRequest.Parse(head).Path;

    public string Query => UpgradeRequest.Parse(head).Query;

    public string? Origin => UpgradeRequest.Parse(head).Origin;

    public string? Header(string name) => HttpHead.Values(head, name);
}
