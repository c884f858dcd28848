using Net.Zlink.Transports.Tcp;

namespace Net.Zlink.Transports;

/// <summary>The settings of one endpoint, for whichever transport it turns out to be: each takes the part that is its own.</summary>
internal sealed record TransportSettings
{
    /// <summary>For the transports that run over tcp.</summary>
    public TcpSettings Tcp { get; init; } = new();

    /// <summary>The part that every transport over a socket of the system has.</summary>
    public SocketSettings Socket => Tcp;
}
