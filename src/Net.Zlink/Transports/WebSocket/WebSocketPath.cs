namespace Net.Zlink.Transports.WebSocket;

internal static class WebSocketPath
{
    /// <summary>The longest path and query to send or bind: half of the longest request head.</summary>
    public const int MaxLength = 16 * 1024;

    /// <summary>Refuses what a request line cannot have: blanks, control characters, non-ASCII, a fragment.</summary>
    public static bool TrySplit(string text, out string authority, out string path, out EndpointError error)
    {
        error = EndpointError.None;
        int end = text.AsSpan().IndexOfAny('/', '?');
        authority = end < 0 ? text : text[..end];
        path = end < 0 ? "/" : text[end] == '/' ? text[end..] : $"/{text[end..]}";
        if (path.Length > MaxLength)
        {
            error = EndpointError.Invalid($"path and query have {path.Length} characters; {MaxLength} is the most");
        }
        else if (path.AsSpan().ContainsAnyExceptInRange('!', '~') || path.Contains('#', StringComparison.Ordinal))
        {
            error = EndpointError.Invalid(
                $"the path {EndpointError.Quote(path.Split('?')[0])} or its query holds a character that no request can carry; write it "
                + $"percent-encoded");
        }

        return error.Fault == EndpointFault.None;
    }
}
