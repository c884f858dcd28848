using System.Net.Security;
using System.Security.Authentication;

namespace Net.Zlink;

/// <summary>What the TLS handshake of a connection agreed on.</summary>
public sealed class TlsSession
{
    internal TlsSession(SslStream stream)
    {
        Protocol = stream.SslProtocol;
        CipherSuite = stream.NegotiatedCipherSuite;
        ApplicationProtocol = stream.NegotiatedApplicationProtocol;
    }

    /// <summary>The version, such as Tls13.</summary>
    public SslProtocols Protocol { get; }

    /// <summary>The cipher suite.</summary>
    public TlsCipherSuite CipherSuite { get; }

    /// <summary>The protocol that ALPN chose of those that the application's TLS options name. Empty: none.</summary>
    public SslApplicationProtocol ApplicationProtocol { get; }
}
