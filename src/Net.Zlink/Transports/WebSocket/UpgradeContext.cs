using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>What the application's check of an upgrade request gets.</summary>
/// <param name="Head">The request.</param>
/// <param name="Remote">The peer's address.</param>
/// <param name="Certificate">The peer's certificate, or null.</param>
/// <param name="Cancellation">The time limit.</param>
internal readonly record struct UpgradeContext(
    UpgradeHead Head, EndPoint? Remote, X509Certificate2? Certificate, CancellationToken Cancellation);

/// <summary>The application's answer.</summary>
/// <param name="Status">The HTTP status. 0: accepted.</param>
/// <param name="Reason">One sentence for the peer.</param>
internal readonly record struct UpgradeRefusal(int Status, string? Reason);
