namespace Net.Zlink.Transports;

internal readonly record struct EndpointText(Transport Transport, string Text, string Remainder)
{
    public const string Tcp = "tcp";

    public const string Ipc = "ipc";

    public const string Tls = "tls";

    public const string Ws = "ws";

    public const string Wss = "wss";

    public const string Inproc = "inproc";

    public const string Separator = "://";

    /// <summary>For <see cref="RedactedEndpoint"/>, which has the rule.</summary>
    public static string WithoutSecrets(string endpoint)
    {
        if (HasPathOnly(endpoint) || endpoint.AsSpan().IndexOfAny('?', '#', '@') < 0)
        {
            return endpoint;
        }

        int start = SchemeLength(endpoint);
        int end = endpoint.AsSpan(start).IndexOfAny('?', '#');
        string kept = end < 0 ? endpoint[start..] : $"{endpoint.AsSpan(start, end + 1)}…";
        int user = UserInfoLength(kept, isWeb: endpoint.AsSpan(0, start) is $"{Ws}{Separator}" or $"{Wss}{Separator}");
        string shown = user > 0 ? $"…{kept.AsSpan(user - 1)}" : kept;
        return $"{endpoint.AsSpan(0, start)}{shown}";
    }

    /// <summary>With the "://"; 0 where no scheme stands in front of it.</summary>
    public static int SchemeLength(string endpoint)
    {
        int separator = endpoint.IndexOf(Separator, StringComparison.Ordinal);
        return separator < 0 || endpoint.AsSpan(0, separator).ContainsAny('?', '#', '@') ? 0 : separator + Separator.Length;
    }

    /// <summary>A peer's name without control characters, which could be meant for a terminal or log.</summary>
    public static string Printable(string name) =>
        name.Any(char.IsControl) ? string.Concat(name.Select(static c => char.IsControl(c) ? '?' : c)) : name;

    private static bool HasPathOnly(string text) =>
        text.StartsWith($"{Ipc}{Separator}", StringComparison.Ordinal) || text.StartsWith($"{Inproc}{Separator}", StringComparison.Ordinal);

    /// <summary>Refuses, without quoting it, what no transport takes and what may hold a secret.</summary>
    public EndpointError FindSecret()
    {
        if (HasPathOnly(Text))
        {
            return EndpointError.None;
        }

        bool isWeb = Transport.Scheme is Ws or Wss;
        int query = Remainder.IndexOf('?', StringComparison.Ordinal);
        return UserInfoLength(query < 0 ? Remainder : Remainder[..query], isWeb) > 0
            ? EndpointError.Invalid("there is user information before \"@\" in it, which no transport sends; leave it out")
            : Remainder.Contains('#', StringComparison.Ordinal)
                ? EndpointError.Invalid(isWeb
                    ? "there is a fragment behind \"#\" in it, a character that no request can carry; write it percent-encoded"
                    : $"there is a fragment behind \"#\" in it, which {Transport.Scheme} has no use for; leave it out")
                : query >= 0 && !isWeb
                    ? EndpointError.Invalid($"there is a query behind \"?\" in it, which {Transport.Scheme} has no use for; leave it out")
                    : EndpointError.None;
    }

    /// <summary>How many characters before the host name a user, with the "@": 0 where a path begins behind host and port, which it does
    /// for ws and wss only.</summary>
    private static int UserInfoLength(string remainder, bool isWeb)
    {
        ReadOnlySpan<char> authority = remainder.AsSpan();
        int slash = authority.IndexOf('/');
        authority = slash < 0 ? authority : authority[..slash];
        int colon = authority.LastIndexOf(':');
        ReadOnlySpan<char> port = authority[(colon + 1)..];
        bool hasPort = colon >= 0 && (port is "*" || (port.Length > 0 && !port.ContainsAnyExceptInRange('0', '9')));
        return isWeb && hasPort && !authority.Contains('@') ? 0 : remainder.LastIndexOf('@') + 1;
    }
}
