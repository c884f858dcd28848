using System.Buffers;
using System.Globalization;
using System.Net;

namespace Net.Zlink.Transports.Tcp;

/// <summary>
/// "host:port", or "source:port;host:port" to connect. Ports are parsed strictly: the native core reads 70000 as 4464.
/// <paramref name="Port"/>: 0 is accepted to connect to, as in the native core, and fails at each attempt.
/// </summary>
internal sealed record TcpAddress(TcpHost Host, int Port, TcpHost? SourceHost = null, int SourcePort = 0)
{
    private const char SourceEnd = ';';

    public IPEndPoint? Literal => Host is { Address: { } address, Zone: "" } && SourceHost is null ? new IPEndPoint(address, Port) : null;

    /// <summary>Null: it is none, for the reason in <paramref name="error"/>.</summary>
    public static TcpAddress? Parse(ReadOnlySpan<char> text, EndpointUse use, out EndpointError error)
    {
        int semicolon = text.IndexOf(SourceEnd);
        if (use == EndpointUse.Any)
        {
            return Parse(text, EndpointUse.Connect, out error) ?? (semicolon >= 0 ? null : Parse(text, EndpointUse.Bind, out error));
        }

        bool isLocal = use == EndpointUse.Bind;
        if (isLocal && semicolon >= 0)
        {
            error = EndpointError.Invalid("a source address (the part before \";\") belongs to connect; bind takes host:port only");
            return null;
        }

        TcpHost? sourceHost = null;
        int sourcePort = 0;
        if (semicolon >= 0)
        {
            sourceHost = Split(text[..semicolon], isLocal: false, mayBeAny: true, out sourcePort, out error);
            if (sourceHost is null)
            {
                error = error with { Sentence = $"in the source address (before \";\"): {error.Sentence}" };
                return null;
            }
        }

        return Split(text[(semicolon + 1)..], isLocal, mayBeAny: isLocal, out int port, out error) is { } host
            ? new TcpAddress(host, port, sourceHost, sourcePort) : null;
    }

    private static TcpHost? Split(ReadOnlySpan<char> text, bool isLocal, bool mayBeAny, out int port, out EndpointError error)
    {
        port = 0;
        int colon = text.LastIndexOf(':');
        if (colon < 0 || text.LastIndexOf(']') > colon)
        {
            error = EndpointError.Invalid(
                $"there is no port after {EndpointError.Quote(text)}; end it with a colon and a port, as in 127.0.0.1:5555");
            return null;
        }

        TcpHost? host = TcpHost.Parse(text[..colon], isLocal, out error);
        return host is not null && TryParsePort(text[(colon + 1)..], mayBeAny, out port, out error) ? host : null;
    }

    private static bool TryParsePort(ReadOnlySpan<char> text, bool mayBeAny, out int port, out EndpointError error)
    {
        port = 0;
        string advice = mayBeAny ? "use 0 or * for any free port" : "use the port that the other side listens on";
        ReadOnlySpan<char> digits = text is ['-', ..] ? text[1..] : text;
        error = mayBeAny && text is "*" ? EndpointError.None
            : text.IsEmpty ? EndpointError.Invalid($"there is no port after the last colon; {advice}")
            : digits.IsEmpty || digits.ContainsAnyExceptInRange('0', '9')
                ? EndpointError.Invalid($"port {EndpointError.Quote(text)} is not a number; {advice}")
            : digits.Length < text.Length || !int.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out port)
                || port > IPEndPoint.MaxPort
                ? EndpointError.Invalid($"port {EndpointError.Quote(text).Trim('"')} is outside 0..65535; {advice}")
            : EndpointError.None;
        return error.Code == ZlinkError.None;
    }
}

/// <summary>A name, an address, or "*" for each address of this machine.</summary>
internal sealed record TcpHost(string Text, IPAddress? Address = null, string Zone = "")
{
    private const int LongestName = 255;
    private const int LongestZone = 64;

    private const string Letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

    private static readonly SearchValues<char> StrictNameLetters = SearchValues.Create(Letters);
    private static readonly SearchValues<char> DottedQuadLetters = SearchValues.Create("0123456789.");
    private static readonly SearchValues<char> IPv6Letters = SearchValues.Create("0123456789abcdefABCDEF:.");

    // Interface names on Windows may have blanks, round brackets and letters of any script, but none of these.
    private static readonly SearchValues<char> NeverInName = SearchValues.Create(
        [.. "/\\[]%;:?#\"'<>|,", .. Enumerable.Range(0, 256).Select(static c => (char)c).Where(char.IsControl)]);

    public bool IsAny => Text is "*";

    public static TcpHost? Parse(ReadOnlySpan<char> text, bool isLocal, out EndpointError error)
    {
        error = EndpointError.None;
        if (text.IsEmpty)
        {
            error = EndpointError.Invalid(isLocal
                ? "there is no host before the port; use * for every address of this machine"
                : "there is no host before the port; name the host to connect to");
            return null;
        }

        if (text is "*")
        {
            error = isLocal ? error : EndpointError.Invalid("* names no host to connect to; name one, such as 127.0.0.1");
            return isLocal ? new TcpHost("*") : null;
        }

        TcpHost? host;
        string complaint;
        if (text[0] == '[')
        {
            host = text[^1] == ']' ? ParseIPv6(text[1..^1]) : null;
            complaint = "is not an IPv6 address in brackets; write [::1]:5555, and anything else without brackets";
        }
        else if (text.Contains(':'))
        {
            host = ParseIPv6(text);
            complaint = "is not an IPv6 address; write host:port, or [address]:port for IPv6";
        }
        else if (!text.ContainsAnyExcept(DottedQuadLetters))
        {
            // IPAddress also reads 127.1, as 127.0.0.1, and 010.0.0.1, as 8.0.0.1.
            bool isQuad = IPAddress.TryParse(text, out IPAddress? address) && text.SequenceEqual(address.ToString());
            host = isQuad ? new TcpHost(text.ToString(), address) : null;
            complaint = "is not an IPv4 address; write four numbers of 0..255, as in 127.0.0.1";
        }
        else
        {
            host = IsName(text, isLocal) ? new TcpHost(text.ToString()) : null;
            complaint = "is not a host name; use letters, digits, \".\", \"-\" and \"_\", or an address";
        }

        error = host is null ? EndpointError.Invalid($"{EndpointError.Quote(text)} {complaint}") : error;
        return host;
    }

    private static TcpHost? ParseIPv6(ReadOnlySpan<char> text)
    {
        int percent = text.IndexOf('%');
        ReadOnlySpan<char> literal = percent < 0 ? text : text[..percent];
        ReadOnlySpan<char> zone = percent < 0 ? "" : text[(percent + 1)..];
        bool isZoned = percent < 0 || (zone.Length is > 0 and <= LongestZone && !zone.ContainsAnyExcept(StrictNameLetters));
        return isZoned && literal.Contains(':') && !literal.ContainsAnyExcept(IPv6Letters)
            && IPAddress.TryParse(literal, out IPAddress? address) ? new TcpHost(text.ToString(), address, zone.ToString()) : null;
    }

    private static bool IsName(ReadOnlySpan<char> text, bool isLocal) => text.Length <= LongestName && (isLocal
        ? !text.ContainsAny(NeverInName) && text.Trim().Length == text.Length
        : char.IsAsciiLetterOrDigit(text[0]) && !text.ContainsAnyExcept(StrictNameLetters));
}
