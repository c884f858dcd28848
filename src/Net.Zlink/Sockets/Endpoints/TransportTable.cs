using Net.Zlink.Transports;
using Net.Zlink.Transports.Ipc;
using Net.Zlink.Transports.Tcp;
using Net.Zlink.Transports.Tls;
using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>Every transport. A new one is a folder and a row here.</summary>
internal static class TransportTable
{
    private static Transport[] s_all =
    [
        new(EndpointText.Tcp, "tcp://host:port", TcpEndpoint.Parse, TcpEndpoint.Format),
        new(EndpointText.Ipc, "ipc://path", IpcEndpoint.Parse, IpcEndpoint.Format),
        new(EndpointText.Inproc, "inproc://name", InprocEndpoint.Parse, static (_, _, _) => ""),
        new(EndpointText.Tls, "tls://host:port", TlsEndpoint.Parse, TcpEndpoint.Format),
        new(EndpointText.Ws, "ws://host:port/path", WebSocketEndpoint.Parse, WebSocketEndpoint.Format),
        new(EndpointText.Wss, "wss://host:port/path", WebSocketEndpoint.Parse, WebSocketEndpoint.Format),
    ];

    private static readonly string s_advice = Advice(s_all.Where(static one => one.Scheme is not EndpointText.Inproc));

    private static readonly string s_anyAdvice = Advice(s_all.Select(static one => one.Scheme is EndpointText.Inproc
        ? one with { Notation = $"{one.Notation} (not for STREAM)" } : one));

    /// <summary>Adds a transport from outside of the library, before its first endpoint. Advice in exceptions does not name it.</summary>
    public static void Add(Transport transport) => s_all = [.. s_all, transport];

    public static Transport? Find(string scheme) =>
        Array.Find(s_all, one => string.Equals(one.Scheme, scheme, StringComparison.Ordinal));

    public static bool TryParse(string text, EndpointUse use, out TransportEndpoint endpoint, out EndpointError error)
    {
        endpoint = TrySplit(text, out EndpointText parts, out error) ? parts.Transport.Parse(parts, use, out error)! : null!;
        return endpoint is not null;
    }

    /// <summary>As <see cref="TryParse"/>, for sockets whose messages always take a wire.</summary>
    public static bool TryParseWire(string text, EndpointUse use, out WireEndpoint endpoint, out EndpointError error)
    {
        bool isParsed = TryParse(text, use, out TransportEndpoint any, out error);
        endpoint = (any as WireEndpoint)!;
        if (isParsed && endpoint is null)
        {
            error = new(ZlinkError.ProtocolNotSupported, $"this kind of socket does not take {any.Scheme} endpoints; use {s_advice}");
        }

        return endpoint is not null;
    }

    /// <summary>Finds the transport, and refuses what may hold a secret.</summary>
    public static bool TrySplit(string text, out EndpointText endpoint, out EndpointError error)
    {
        endpoint = default;
        int at = text.IndexOf(EndpointText.Separator, StringComparison.Ordinal);
        if (at < 0)
        {
            error = EndpointError.Invalid($"there is no \"://\" in it; write {s_anyAdvice}");
            return false;
        }

        if (at == 0 || at + EndpointText.Separator.Length == text.Length)
        {
            error = EndpointError.Invalid($"there is {(at == 0 ? "no scheme before" : "nothing after")} \"://\"; write {s_anyAdvice}");
            return false;
        }

        string scheme = text[..at];
        if (Find(scheme) is not { } transport)
        {
            error = new EndpointError(ZlinkError.ProtocolNotSupported, UnknownScheme(scheme));
            return false;
        }

        endpoint = new EndpointText(transport, text, text[(at + EndpointText.Separator.Length)..]);
        error = endpoint.FindSecret();
        return error.Code == ZlinkError.None;
    }

    private static string UnknownScheme(string scheme)
    {
        Transport? meant = Array.Find(s_all, one => string.Equals(one.Scheme, scheme, StringComparison.OrdinalIgnoreCase));
        return meant is null
            ? $"the scheme {RedactedEndpoint.Quote(scheme)} is not supported; use {s_anyAdvice}"
            : $"the scheme {EndpointError.Quote(scheme)} must be in lower case; write {meant.Notation}";
    }

    private static string Advice(IEnumerable<Transport> transports)
    {
        string[] all = [.. transports.Select(static one => one.Notation)];
        return $"{string.Join(", ", all[..^1])} or {all[^1]}";
    }
}
