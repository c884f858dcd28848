namespace Net.Zlink.Protocol.WebSocket;

/// <summary>What a peer asked for a WebSocket with. Immutable. It keeps the bytes alone, mostly some hundred and 8 KiB at most, as long as its connection lives; what is asked of it is looked for in them each time.</summary>
/// <param name="head">All of it, well-formed.</param>
internal sealed class UpgradeHead(byte[] head)
{
    public string Path => UpgradeRequest.Parse(head).Path;

    public string Query => UpgradeRequest.Parse(head).Query;

    public string? Origin => UpgradeRequest.Parse(head).Origin;

    /// <inheritdoc cref="HttpHead.Values"/>
    public string? Header(string name) => HttpHead.Values(head, name);
}
