namespace Net.Zlink.Sockets;

/// <summary>The present state of one endpoint of a socket.</summary>
/// <param name="Text">The resolved endpoint if bound, otherwise the text given to Connect.</param>
/// <param name="IsBound">Bound, or else connected.</param>
/// <param name="Problem">What is wrong with the endpoint. Null: nothing, or its peers say it.</param>
internal readonly record struct EndpointStatus(string Text, bool IsBound, string? Problem = null)
{
    public static IReadOnlyList<string> TextsOf(EndpointStatus[] all, bool areBound) =>
        [.. all.Where(one => one.IsBound == areBound).Select(static one => one.Text)];
}
