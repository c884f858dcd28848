namespace Net.Zlink.Transports;

/// <summary>An endpoint's text split at "://". Pure: nothing is resolved and nothing is opened.</summary>
/// <param name="Scheme">The scheme, as written: schemes are case sensitive.</param>
/// <param name="Rest">All that follows "://", never empty.</param>
internal readonly record struct EndpointText(string Scheme, string Rest)
{
    /// <summary>The scheme of tcp endpoints.</summary>
    public const string Tcp = "tcp";

    private const string Separator = "://";

    /// <summary>Splits <paramref name="text"/> and checks that the scheme is one that this library speaks.</summary>
    public static bool TryParse(string text, out EndpointText endpoint, out EndpointError error)
    {
        endpoint = default;
        var at = text.IndexOf(Separator, StringComparison.Ordinal);
        if (at < 0)
        {
            error = EndpointError.Invalid("there is no \"://\" in it; write tcp://host:port");
            return false;
        }

        var scheme = text[..at];
        if (scheme.Length == 0)
        {
            error = EndpointError.Invalid("there is no scheme before \"://\"; write tcp://host:port");
            return false;
        }

        if (at + Separator.Length == text.Length)
        {
            error = EndpointError.Invalid("there is nothing after \"://\"; write tcp://host:port");
            return false;
        }

        if (!string.Equals(scheme, Tcp, StringComparison.Ordinal))
        {
            error = new EndpointError(EndpointFault.UnknownScheme, UnknownScheme(scheme));
            return false;
        }

        endpoint = new EndpointText(scheme, text[(at + Separator.Length)..]);
        error = EndpointError.None;
        return true;
    }

    private static string UnknownScheme(string scheme) =>
        string.Equals(scheme, Tcp, StringComparison.OrdinalIgnoreCase)
            ? $"the scheme {EndpointError.Quote(scheme)} must be in lower case; write tcp://host:port"
            : $"the scheme {EndpointError.Quote(scheme)} is not supported; use tcp://host:port";
}
