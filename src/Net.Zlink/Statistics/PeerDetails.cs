using System.Collections.ObjectModel;
using System.Security.Claims;
using System.Security.Cryptography.X509Certificates;

namespace Net.Zlink;

/// <summary>
/// What an application knows of a peer whose connection it passes to <see cref="ZlinkSocket.AcceptAsync"/>: for example what its web
/// server knows of the request. <see cref="PeerInfo.Details"/>, <see cref="StreamPeer.Details"/> and <see cref="Message.PeerDetails"/>
/// return the object.
/// </summary>
/// <remarks>Immutable, and so safe for any number of threads.</remarks>
public sealed class PeerDetails
{
    internal static readonly PeerDetails None = new();

    /// <summary>
    /// The peer's address as a text, such as 192.0.2.7:50123. Events, logs and <see cref="PeerInfo.RemoteAddress"/> show it. Empty by
    /// default.
    /// </summary>
    public string RemoteAddress { get; init; } = "";

    /// <summary>
    /// What the connection is called, such as the path or the user of a request. Events, logs and <see cref="PeerInfo.Endpoint"/> show it
    /// as pipe://name, so it must not be a secret. Empty by default.
    /// </summary>
    public string Name { get; init; } = "";

    /// <summary>
    /// Further properties, such as the fields of a request. The library neither reads nor shows them. Empty by default.
    /// </summary>
    public IReadOnlyDictionary<string, string> Headers { get; init; } = ReadOnlyDictionary<string, string>.Empty;

    /// <summary>Who the peer is, as the application's server has found out, or null. The library neither reads nor shows it.</summary>
    public ClaimsPrincipal? User { get; init; }

    /// <summary>The peer's certificate, or null. The application disposes it after the connection's end.</summary>
    public X509Certificate2? RemoteCertificate { get; init; }

    /// <summary>The WebSocket sub-protocol that both sides agreed on, or null.</summary>
    public string? SubProtocol { get; init; }

    /// <summary>Returns name and address, for logs.</summary>
    /// <returns>A short text without the headers.</returns>
    public override string ToString() => $"{Name} ({RemoteAddress})";
}
