using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Protocol.WebSocket;

namespace Net.Zlink.Transports.WebSocket;

/// <summary>What an application that is asked whether a WebSocket may be made has to go by.</summary>
/// <param name="Head">The request.</param>
/// <param name="Remote">Who it comes from.</param>
/// <param name="Certificate">What it showed; null: nothing.</param>
/// <param name="Cancellation">The time for the answer is up.</param>
internal readonly record struct UpgradeContext(
    UpgradeHead Head, EndPoint? Remote, X509Certificate2? Certificate, CancellationToken Cancellation);

/// <summary>What it answers.</summary>
/// <param name="Status">Of the HTTP answer; 0: it may be made.</param>
/// <param name="Reason">One sentence for the peer.</param>
internal readonly record struct UpgradeRefusal(int Status, string? Reason);
