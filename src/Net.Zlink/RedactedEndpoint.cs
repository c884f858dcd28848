using Net.Zlink.Transports;

namespace Net.Zlink;

/// <summary>An endpoint for logs, spans, exceptions and descriptions. Its text has no user information, no query and no fragment, since
/// each may hold a secret; an ellipsis stands in their place.</summary>
/// <remarks>Immutable, and so safe for any number of threads. It keeps nothing else of the endpoint, so that no log can show more. A
/// method that takes it instead of a text cannot log a secret, and its callers pass the text: it is converted implicitly.</remarks>
/// <example>
/// <code>
/// loggers.CreateLogger("orders").LogInformation("Orders go to {Endpoint}", new RedactedEndpoint("tcp://orders:5555"));
/// </code>
/// </example>
public readonly struct RedactedEndpoint
{
    private readonly string? _text;

    /// <summary>Takes any text, since texts that are refused are shown, too. ipc and inproc endpoints are a path or a name, and stay
    /// whole.</summary>
    /// <param name="text">An endpoint, or a text that is none.</param>
    /// <exception cref="ArgumentNullException"><paramref name="text"/> is null.</exception>
    public RedactedEndpoint(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        _text = EndpointText.WithoutSecrets(text);
    }

    private RedactedEndpoint(string redacted, int start) => _text = redacted[start..];

    /// <summary>The address alone, as in the native core's event of a bind that failed.</summary>
    internal RedactedEndpoint WithoutScheme => new(ToString(), EndpointText.SchemeLength(ToString()));

    internal static string Quote(RedactedEndpoint endpoint) => EndpointError.Quote(endpoint.ToString());

    /// <summary>As the constructor.</summary>
    /// <param name="text">An endpoint, or a text that is none.</param>
    public static implicit operator RedactedEndpoint(string text) => new(text);

    /// <summary>The endpoint without its secrets.</summary>
    /// <returns>The text.</returns>
    public override string ToString() => _text ?? "";
}
