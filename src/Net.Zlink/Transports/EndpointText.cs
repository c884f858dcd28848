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

    /// <summary>An endpoint for events, logs, exceptions and descriptions: without its query, which may hold a token.</summary>
    public static string Shown(string endpoint)
    {
        int query = endpoint.IndexOf('?', StringComparison.Ordinal);
        return query < 0 || endpoint.StartsWith("ipc://", StringComparison.Ordinal) || endpoint.StartsWith("inproc://",
            StringComparison.Ordinal) ? endpoint : $"{endpoint[..query]}?…";
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
        error = EndpointError.None;
        return true;
    }

    private static string UnknownScheme(string scheme)
    {
        var meant = Array.Find(Known, known => string.Equals(scheme, known.Scheme, StringComparison.OrdinalIgnoreCase));
        return meant.Notation is null
            ? $"the scheme {EndpointError.Quote(scheme)} is not supported; use {AnyAdvice}"
            : $"the scheme {EndpointError.Quote(scheme)} must be in lower case; write {meant.Notation}";
    }
}
