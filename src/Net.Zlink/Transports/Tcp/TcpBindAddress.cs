namespace Net.Zlink.Transports.Tcp;

/// <summary>The parsed tcp address to listen at. Pure: nothing is resolved.</summary>
/// <param name="Host">All addresses, a literal, or the name of a host or interface.</param>
/// <param name="Port">0: any free port.</param>
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
