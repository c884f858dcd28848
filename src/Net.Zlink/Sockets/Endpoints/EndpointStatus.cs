namespace Net.Zlink.Sockets.Endpoints;

internal readonly record struct EndpointStatus(string Text, bool IsBound, string? Problem = null)
{
    public static IReadOnlyList<string> TextsOf(EndpointStatus[] all, bool areBound) =>
        [.. all.Where(one => one.IsBound == areBound).Select(static one => one.Text)];

    public static IReadOnlyList<string> RedactedTextsOf(EndpointStatus[] all, bool areBound) =>
        [.. TextsOf(all, areBound).Select(static text => new RedactedEndpoint(text).ToString())];
}
