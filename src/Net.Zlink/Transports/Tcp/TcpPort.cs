using System.Globalization;
using System.Net;

namespace Net.Zlink.Transports.Tcp;

/// <summary>Splits "host:port" and parses the port strictly: the native core reads 70000 as 4464.</summary>
internal static class TcpPort
{
    public static bool TrySplit(ReadOnlySpan<char> text, out ReadOnlySpan<char> host, out ReadOnlySpan<char> port, out EndpointError error)
    {
        var colon = text.LastIndexOf(':');
        if (colon < 0 || text.LastIndexOf(']') > colon)
        {
            host = port = default;
            error = EndpointError.Invalid(
                $"there is no port after {EndpointError.Quote(text)}; end it with a colon and a port, as in 127.0.0.1:5555");
            return false;
        }

        host = text[..colon];
        port = text[(colon + 1)..];
        error = EndpointError.None;
        return true;
    }

    public static bool TryParse(ReadOnlySpan<char> text, bool mayBeAny, out int port, out EndpointError error)
    {
        error = EndpointError.None;
        port = 0;
        if (mayBeAny && text is "*")
        {
            return true;
        }

        var advice = mayBeAny ? "use 0 or * for any free port" : "use the port that the other side listens on";
        if (text.IsEmpty)
        {
            error = EndpointError.Invalid($"there is no port after the last colon; {advice}");
            return false;
        }

        var digits = text[0] == '-' ? text[1..] : text;
        if (digits.IsEmpty || digits.ContainsAnyExceptInRange('0', '9'))
        {
            error = EndpointError.Invalid($"port {EndpointError.Quote(text)} is not a number; {advice}");
            return false;
        }

        if (digits.Length < text.Length
            || !int.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out port)
            || port > IPEndPoint.MaxPort)
        {
            port = 0;
            error = EndpointError.Invalid($"port {EndpointError.Quote(text).Trim('"')} is outside 0..65535; {advice}");
            return false;
        }

        return true;
    }
}
