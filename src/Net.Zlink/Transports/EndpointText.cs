namespace Net.Zlink.Transports;

internal readonly record struct EndpointText(string Scheme, string Remainder)
{
    public const string Tcp = "tcp";

    public const string Ipc = "ipc";

    public const string Tls = "tls";

    public const string Ws = "ws";

    public const string Wss = "wss";

    public const string Inproc = "inproc";

    public const string Advice = "tcp://host:port, ipc://path, tls://host:port, ws://host:port/path or wss://host:port/path";

    private const string AnyAdvice =
        "tcp://host:port, ipc://path, inproc://name (not for STREAM), tls://host:port, ws://host:port/path or wss://host:port/path";

    private const string Separator = "://";

    private static readonly (string Scheme, string Notation)[] Known =
    [
        (Tcp, "tcp://host:port"), (Ipc, "ipc://path"), (Inproc, "inproc://name"), (Tls, "tls://host:port"), (Ws, "ws://host:port/path"),
            (Wss, "wss://host:port/path"),
    ];

    /// <summary>An endpoint for events, logs, exceptions and descriptions: without user information, query and fragment, which may hold a
    /// secret. It takes any text, since texts that are refused are shown, too.</summary>
    public static string Redact(string endpoint)
    {
        if (HasPathOnly(endpoint))
        {
            return endpoint;
        }

        int start = endpoint.IndexOf(Separator, StringComparison.Ordinal);
        start = start < 0 ? 0 : start + Separator.Length;
        int end = endpoint.AsSpan(start).IndexOfAny('?', '#');
        string kept = end < 0 ? endpoint[start..] : $"{endpoint.AsSpan(start, end + 1)}…";
        int user = UserInfoLength(kept);
        string shown = user > 0 ? $"…{kept.AsSpan(user - 1)}" : kept;
        return $"{endpoint.AsSpan(0, start)}{shown}";
    }

    /// <summary>A peer's name without control characters, which could be meant for a terminal or log.</summary>
    public static string Printable(string name) =>
        name.Any(char.IsControl) ? string.Concat(name.Select(static c => char.IsControl(c) ? '?' : c)) : name;

    public static bool TryParse(string text, out EndpointText endpoint, out EndpointError error)
    {
        endpoint = default;
        var at = text.IndexOf(Separator, StringComparison.Ordinal);
        if (at < 0)
        {
            error = EndpointError.Invalid($"there is no \"://\" in it; write {AnyAdvice}");
            return false;
        }

        var scheme = text[..at];
        if (scheme.Length == 0)
        {
            error = EndpointError.Invalid($"there is no scheme before \"://\"; write {AnyAdvice}");
            return false;
        }

        if (at + Separator.Length == text.Length)
        {
            error = EndpointError.Invalid($"there is nothing after \"://\"; write {AnyAdvice}");
            return false;
        }

        if (!Array.Exists(Known, known => string.Equals(scheme, known.Scheme, StringComparison.Ordinal)))
        {
            error = new EndpointError(EndpointFault.UnknownScheme, UnknownScheme(scheme));
            return false;
        }

        endpoint = new EndpointText(scheme, text[(at + Separator.Length)..]);
        error = HasPathOnly(text) ? EndpointError.None : endpoint.FindSecret();
        return error.Fault == EndpointFault.None;
    }

    private static bool HasPathOnly(string text) =>
        text.StartsWith($"{Ipc}{Separator}", StringComparison.Ordinal) || text.StartsWith($"{Inproc}{Separator}", StringComparison.Ordinal);

    /// <summary>Refuses, without quoting it, what no transport takes and what may hold a secret.</summary>
    private EndpointError FindSecret()
    {
        bool isWeb = Scheme is Ws or Wss;
        int query = Remainder.IndexOf('?', StringComparison.Ordinal);
        return UserInfoLength(query < 0 ? Remainder : Remainder[..query]) > 0
            ? EndpointError.Invalid("there is user information before \"@\" in it, which no transport sends; leave it out")
            : Remainder.Contains('#', StringComparison.Ordinal)
                ? EndpointError.Invalid(isWeb
                    ? "there is a fragment behind \"#\" in it, a character that no request can carry; write it percent-encoded"
                    : $"there is a fragment behind \"#\" in it, which {Scheme} has no use for; leave it out")
                : query >= 0 && !isWeb
                    ? EndpointError.Invalid($"there is a query behind \"?\" in it, which {Scheme} has no use for; leave it out")
                    : EndpointError.None;
    }

    /// <summary>How many characters before the host name a user, with the "@": 0 where a path begins behind host and port.</summary>
    private static int UserInfoLength(string remainder)
    {
        ReadOnlySpan<char> authority = remainder.AsSpan();
        int slash = authority.IndexOf('/');
        authority = slash < 0 ? authority : authority[..slash];
        int colon = authority.LastIndexOf(':');
        bool hasPort = colon >= 0 && (authority[(colon + 1)..] is "*" || !authority[(colon + 1)..].ContainsAnyExceptInRange('0', '9'));
        return hasPort && !authority.Contains('@') ? 0 : remainder.LastIndexOf('@') + 1;
    }

    private static string UnknownScheme(string scheme)
    {
        var meant = Array.Find(Known, known => string.Equals(scheme, known.Scheme, StringComparison.OrdinalIgnoreCase));
        return meant.Notation is null
            ? $"the scheme {EndpointError.Quote(scheme)} is not supported; use {AnyAdvice}"
            : $"the scheme {EndpointError.Quote(scheme)} must be in lower case; write {meant.Notation}";
    }
}
