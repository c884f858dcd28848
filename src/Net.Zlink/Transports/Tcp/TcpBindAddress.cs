namespace Net.Zlink.Transports.Tcp;

internal sealed record TcpBindAddress(TcpHost Host, int Port)
{
    public static bool TryParse(ReadOnlySpan<char> text, out TcpBindAddress address, out EndpointError error)
    {
        address = null!;
        if (text.Contains(';'))
        {
            error = EndpointError.Invalid("a source address (the part before \";\") belongs to connect; bind takes host:port only");
            return false;
        }

        if (!TcpPort.TrySplit(text, out var host, out var portText, out error)
            || !TcpHost.TryParseLocal(host, out var parsedHost, out error)
            || !TcpPort.TryParse(portText, mayBeAny: true, out var port, out error))
        {
            return false;
        }

        address = new TcpBindAddress(parsedHost, port);
        return true;
    }
}
