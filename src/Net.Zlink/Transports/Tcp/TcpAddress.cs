using System.Buffers;
using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>
/// "host:port", or "source:port;host:port" to connect. Ports are parsed strictly: the native core reads 70000 as 4464.
/// <paramref name="Port"/>: 0 is accepted to connect to, as in the native core, and fails at each attempt.
/// </summary>
internal sealed record TcpAddress(TcpHost Host, int Port, TcpHost? SourceHost = null, int SourcePort = 0)
{
    private const char SourceEnd = ';';

    public IPEndPoint? Literal => Host is { Address: { } address, Zone: "" } && SourceHost is null ? new IPEndPoint(address, Port) : null;

    public static bool TryParse(ReadOnlySpan<char> text, EndpointUse use, out TcpAddress address, out EndpointError error) => use switch
    {
        EndpointUse.Bind => TryParseBind(text, out address, out error),
        EndpointUse.Connect => TryParseConnect(text, out address, out error),
        _ => TryParseConnect(text, out address, out error) || (!text.Contains(SourceEnd) && TryParseBind(text, out address, out error)),
    };

    private static bool TryParseBind(ReadOnlySpan<char> text, out TcpAddress address, out EndpointError error)
    {
        address = null!;
        if (text.Contains(SourceEnd))
        {
            error = EndpointError.Invalid("a source address (the part before \";\") belongs to connect; bind takes host:port only");
            return false;
        }

        if (TrySplit(text, isLocal: true, mayBeAny: true, out TcpHost host, out int port, out error))
        {
            address = new TcpAddress(host, port);
        }

        return address is not null;
    }

    private static bool TryParseConnect(ReadOnlySpan<char> text, out TcpAddress address, out EndpointError error)
    {
        address = null!;
        TcpHost? sourceHost = null;
        int sourcePort = 0;
        int semicolon = text.IndexOf(SourceEnd);
        if (semicolon >= 0)
        {
            if (!TrySplit(text[..semicolon], isLocal: false, mayBeAny: true, out sourceHost, out sourcePort, out error))
            {
                error = error with { Sentence = $"in the source address (before \";\"): {error.Sentence}" };
                return false;
            }

            text = text[(semicolon + 1)..];
        }

        if (TrySplit(text, isLocal: false, mayBeAny: false, out TcpHost host, out int port, out error))
        {
            address = new TcpAddress(host, port, sourceHost, sourcePort);
        }

        return address is not null;
    }

    private static bool TrySplit(
        ReadOnlySpan<char> text, bool isLocal, bool mayBeAny, out TcpHost host, out int port, out EndpointError error)
    {
        (host, port) = (null!, 0);
        int colon = text.LastIndexOf(':');
        if (colon < 0 || text.LastIndexOf(']') > colon)
        {
            error = EndpointError.Invalid(
                $"there is no port after {EndpointError.Quote(text)}; end it with a colon and a port, as in 127.0.0.1:5555");
            return false;
        }

        return TcpHost.TryParse(text[..colon], isLocal, out host, out error)
            && TryParsePort(text[(colon + 1)..], mayBeAny, out port, out error);
    }

    private static bool TryParsePort(ReadOnlySpan<char> text, bool mayBeAny, out int port, out EndpointError error)
    {
        error = EndpointError.None;
        port = 0;
        if (mayBeAny && text is "*")
        {
            return true;
        }

        string advice = mayBeAny ? "use 0 or * for any free port" : "use the port that the other side listens on";
        ReadOnlySpan<char> digits = text is ['-', ..] ? text[1..] : text;
        error = text.IsEmpty ? EndpointError.Invalid($"there is no port after the last colon; {advice}")
            : digits.IsEmpty || digits.ContainsAnyExceptInRange('0', '9')
                ? EndpointError.Invalid($"port {EndpointError.Quote(text)} is not a number; {advice}")
            : digits.Length < text.Length || !int.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out port)
                || port > IPEndPoint.MaxPort
                ? EndpointError.Invalid($"port {EndpointError.Quote(text).Trim('"')} is outside 0..65535; {advice}")
            : EndpointError.None;
        return error.Code == ZlinkError.None;
    }
}

internal enum TcpHostKind
{
    Any,

    Address,

    Name,
}

internal sealed record TcpHost(TcpHostKind Kind, string Text, IPAddress? Address, string Zone)
{
    private const int LongestName = 255;
    private const int LongestZone = 64;

    private const string Letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

    private static readonly SearchValues<char> StrictNameLetters = SearchValues.Create(Letters);
    private static readonly SearchValues<char> DottedQuadLetters = SearchValues.Create("0123456789.");
    private static readonly SearchValues<char> IPv6Letters = SearchValues.Create("0123456789abcdefABCDEF:.");

    // Interface names on Windows may have blanks, round brackets and letters of any script, but none of these.
    private static readonly SearchValues<char> NeverInName = SearchValues.Create("/\\[]%;:?#\"'<>|,");

    public static bool TryParse(ReadOnlySpan<char> text, bool isLocal, out TcpHost host, out EndpointError error)
    {
        host = null!;
        error = EndpointError.None;
        if (text.IsEmpty)
        {
            error = EndpointError.Invalid(isLocal
                ? "there is no host before the port; use * for every address of this machine"
                : "there is no host before the port; name the host to connect to");
            return false;
        }

        if (text is "*")
        {
            host = new TcpHost(TcpHostKind.Any, "*", Address: null, Zone: "");
            error = isLocal ? error : EndpointError.Invalid("* names no host to connect to; name one, such as 127.0.0.1");
            return isLocal;
        }

        if (text[0] == '[')
        {
            if (text[^1] == ']' && TryParseIPv6(text[1..^1], out host))
            {
                return true;
            }

            error = EndpointError.Invalid(
                $"{EndpointError.Quote(text)} is not an IPv6 address in brackets; write [::1]:5555, and anything else without brackets");
            return false;
        }

        if (text.Contains(':'))
        {
            if (TryParseIPv6(text, out host))
            {
                return true;
            }

            error = EndpointError.Invalid(
                $"{EndpointError.Quote(text)} is not an IPv6 address; write host:port, or [address]:port for IPv6");
            return false;
        }

        if (!text.ContainsAnyExcept(DottedQuadLetters))
        {
            if (TryParseDottedQuad(text, out var address))
            {
                host = new TcpHost(TcpHostKind.Address, text.ToString(), address, Zone: "");
                return true;
            }

            error = EndpointError.Invalid(
                $"{EndpointError.Quote(text)} is not an IPv4 address; write four numbers of 0..255, as in 127.0.0.1");
            return false;
        }

        if (!IsName(text, isLocal))
        {
            error = EndpointError.Invalid(
                $"{EndpointError.Quote(text)} is not a host name; use letters, digits, \".\", \"-\" and \"_\", or an address");
            return false;
        }

        host = new TcpHost(TcpHostKind.Name, text.ToString(), Address: null, Zone: "");
        return true;
    }

    private static bool TryParseIPv6(ReadOnlySpan<char> text, out TcpHost host)
    {
        host = null!;
        var percent = text.IndexOf('%');
        var literal = percent < 0 ? text : text[..percent];
        var zone = percent < 0 ? "" : text[(percent + 1)..];
        if (percent >= 0 && (zone.IsEmpty || zone.Length > LongestZone || zone.ContainsAnyExcept(StrictNameLetters)))
        {
            return false;
        }

        if (!literal.Contains(':') || literal.ContainsAnyExcept(IPv6Letters)
            || !IPAddress.TryParse(literal, out var address) || address.AddressFamily != AddressFamily.InterNetworkV6)
        {
            return false;
        }

        host = new TcpHost(TcpHostKind.Address, text.ToString(), address, zone.ToString());
        return true;
    }

    // Stricter than IPAddress.Parse, which reads 127.1 as 127.0.0.1 and 010.0.0.1 as 8.0.0.1.
    private static bool TryParseDottedQuad(ReadOnlySpan<char> text, out IPAddress address)
    {
        Span<byte> bytes = stackalloc byte[4];
        var count = 0;
        foreach (var range in text.Split('.'))
        {
            var part = text[range];
            if (count == bytes.Length || part.IsEmpty || (part.Length > 1 && part[0] == '0')
                || !byte.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out bytes[count]))
            {
                address = IPAddress.None;
                return false;
            }

            count++;
        }

        address = count == bytes.Length ? new IPAddress(bytes) : IPAddress.None;
        return count == bytes.Length;
    }

    private static bool IsName(ReadOnlySpan<char> text, bool isLocal)
    {
        if (text.Length > LongestName)
        {
            return false;
        }

        if (!isLocal)
        {
            return char.IsAsciiLetterOrDigit(text[0]) && !text.ContainsAnyExcept(StrictNameLetters);
        }

        if (text.ContainsAny(NeverInName) || char.IsWhiteSpace(text[0]) || char.IsWhiteSpace(text[^1]))
        {
            return false;
        }

        foreach (var c in text)
        {
            if (char.IsControl(c))
            {
                return false;
            }
        }

        return true;
    }
}
