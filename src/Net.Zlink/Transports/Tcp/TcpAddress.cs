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
        return error.Fault == EndpointFault.None;
    }
}
