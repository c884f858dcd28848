using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;

namespace Net.Zlink.Transports.WebSocket;

internal readonly record struct UpgradeContext(
    UpgradeHead Head, EndPoint? Remote, X509Certificate2? Certificate, CancellationToken Cancellation);

internal readonly record struct UpgradeRefusal(int Status, string? Reason);
