using System.Net;

namespace Net.Zlink.Transports.Tcp;

/// <summary><paramref name="Port"/>: 0 is accepted, as in the native core, and fails at each attempt.</summary>
internal sealed record TcpConnectAddress(TcpHost Host, int Port, TcpHost? SourceHost, int SourcePort)
{
    public IPEndPoint? Literal => Host is { Address: { } address, Zone: "" } && SourceHost is null ? new IPEndPoint(address, Port) : null;

    public static bool TryParse(ReadOnlySpan<char> text, out TcpConnectAddress address, out EndpointError error)
    {
        address = null!;
        TcpHost? sourceHost = null;
        var sourcePort = 0;
        var semicolon = text.IndexOf(';');
        if (semicolon >= 0)
        {
            if (!TryParseSource(text[..semicolon], out sourceHost, out sourcePort, out error))
            {
                return false;
            }

            text = text[(semicolon + 1)..];
        }

        if (!TcpPort.TrySplit(text, out var host, out var portText, out error)
            || !TcpHost.TryParseRemote(host, out var parsedHost, out error)
            || !TcpPort.TryParse(portText, mayBeAny: false, out var port, out error))
        {
            return false;
        }

        address = new TcpConnectAddress(parsedHost, port, sourceHost, sourcePort);
        return true;
    }

    private static bool TryParseSource(ReadOnlySpan<char> text, out TcpHost? host, out int port, out EndpointError error)
    {
        host = null;
        port = 0;
        if (TcpPort.TrySplit(text, out var hostText, out var portText, out error)
            && TcpHost.TryParseRemote(hostText, out host, out error)
            && TcpPort.TryParse(portText, mayBeAny: true, out port, out error))
        {
            return true;
        }

        error = error with { Sentence = $"in the source address (before \";\"): {error.Sentence}" };
        return false;
    }
}
