namespace Net.Zlink.Transports;

/// <summary>An endpoint's text split at "://". Pure: nothing is resolved and nothing is opened.</summary>
/// <param name="Scheme">The scheme, as written: schemes are case sensitive.</param>
/// <param name="Remainder">All that follows "://", never empty.</param>
internal readonly record struct EndpointText(string Scheme, string Remainder)
{
    /// <summary>The scheme of tcp endpoints.</summary>
    public const string Tcp = "tcp";

    /// <summary>The scheme of endpoints between processes of one machine.</summary>
    public const string Ipc = "ipc";

    /// <summary>The scheme of TLS endpoints.</summary>
    public const string Tls = "tls";

    /// <summary>The scheme of WebSocket endpoints.</summary>
    public const string Ws = "ws";

    /// <summary>The scheme of WebSocket endpoints over TLS.</summary>
    public const string Wss = "wss";

    /// <summary>The scheme of endpoints within one context.</summary>
    public const string Inproc = "inproc";

    /// <summary>What every kind of socket takes, for the end of a sentence.</summary>
    public const string Advice = "tcp://host:port, ipc://path, tls://host:port, ws://host:port/path or wss://host:port/path";

    private const string AnyAdvice =
        "tcp://host:port, ipc://path, inproc://name (not for STREAM), tls://host:port, ws://host:port/path or wss://host:port/path";

    private const string Separator = "://";

    // Each with the notation to advise.
    private static readonly (string Scheme, string Notation)[] Known =
    [
        (Tcp, "tcp://host:port"), (Ipc, "ipc://path"), (Inproc, "inproc://name"), (Tls, "tls://host:port"), (Ws, "ws://host:port/path"),
            (Wss, "wss://host:port/path"),
    ];

    /// <summary>A peer's own name without control characters: it may be meant for the terminal, or the log, that it is shown in.</summary>
    public static string Printable(string name) =>
        name.Any(char.IsControl) ? string.Concat(name.Select(static c => char.IsControl(c) ? '?' : c)) : name;

    /// <summary>Splits <paramref name="text"/> and checks that the scheme is one that this library speaks.</summary>
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
