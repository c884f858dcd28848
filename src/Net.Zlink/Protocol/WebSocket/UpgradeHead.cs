namespace Net.Zlink.Protocol.WebSocket;

/// <summary>What a peer asked for a WebSocket with. Immutable; as long as the head was, mostly some hundred bytes.</summary>
/// <param name="head">All of it, well-formed.</param>
/// <param name="request">What was found in it.</param>
internal sealed class UpgradeHead(byte[] head, in UpgradeRequest request)
{
    public string Path { get; } = request.Path;

    public string Query { get; } = request.Query;

    public string? Origin { get; } = request.Origin;

    /// <inheritdoc cref="HttpHead.Values"/>
    public string? Header(string name) => HttpHead.Values(head, name);
}
