using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol;
using Net.Zlink.Protocol.WebSocket;
using Net.Zlink.Transports.Tls;

namespace Net.Zlink.Transports.WebSocket;

internal sealed class WebSocketServerUpgrade(TlsUpgrade? tls, TransportSettings settings)
    : WebSocketUpgrade(tls, isServer: true, settings)
{
    // Each may be a blocked thread, also beyond its peer's time limit: the same number as of handshakes by default.
    private const int MaxConcurrentAdmissions = 1024;

    private readonly SemaphoreSlim _asking = new(MaxConcurrentAdmissions, MaxConcurrentAdmissions);

    protected override async Task<(UpgradeResult? Failure, UpgradeHead? Head, string? SubProtocol)> ExchangeAsync(
        FrameStream stream, Socket socket, X509Certificate2? certificate, CancellationToken cancellation)
    {
        int length = await ReadHeadAsync(stream, isRequest: true, cancellation).ConfigureAwait(false);
        if (length == TooLong)
        {
            const int Status = (int)HttpStatusCode.RequestHeaderFieldsTooLarge;
            string tooLong = $"The request is over {Settings.MaxUpgradeSize} bytes";
            await stream.WriteAsync(UpgradeAnswer.Refuse(Status, tooLong), cancellation).ConfigureAwait(false);
            return (Malformed($"the upgrade was refused with status {Status}: {tooLong}"), null, null);
        }

        if (length <= 0)
        {
            string? protocol = stream.Buffered is [(byte)'Z', 1, ..] ? "it looks like ZMP over tcp: one side's endpoint is not ws"
                : ProtocolSniffer.Of(stream.Buffered);
            return (length == Ended ? Left("the peer closed the connection before it asked for a WebSocket")
                : Malformed($"the peer's bytes are not an HTTP request{(protocol is null ? "" : $"; {protocol}")}"), null, null);
        }

        byte[] bytes = stream.Buffered[..length].ToArray();
        stream.Consume(length);
        (UpgradeRequest request, string why) = Classify(UpgradeRequest.Parse(bytes));
        UpgradeHead? head = null;
        if (request.Refusal == 0)
        {
            head = new UpgradeHead(bytes);
            if (Settings.Admission is { } admits)
            {
                var context = new WebSocketRequest(head, socket.RemoteEndPoint, certificate);
                (request, why) = await AskAsync(() => admits(context, cancellation), request, cancellation).ConfigureAwait(false);
            }
        }

        string? subProtocol = SubProtocolFor(bytes);
        byte[] answer = request.Refusal == 0 ? UpgradeAnswer.Accept(request.Key, subProtocol)
            : UpgradeAnswer.Refuse(request.Refusal, request.Reason);
        await stream.WriteAsync(answer, cancellation).ConfigureAwait(false);
        return request.Refusal == 0 ? (null, head, subProtocol)
            : (Malformed($"the upgrade was refused with status {request.Refusal}: {request.Reason}{why}"), null, null);
    }

    /// <summary>The client names the one that it likes best first (RFC 6455, 4.1).</summary>
    private string? SubProtocolFor(byte[] request) => Settings.SubProtocols.Count == 0 ? null
        : HttpHead.Values(request, UpgradeAnswer.SubProtocolField)?.Split(',', StringSplitOptions.TrimEntries)
            .FirstOrDefault(one => Settings.SubProtocols.Contains(one, StringComparer.Ordinal));

    private (UpgradeRequest Request, string Why) Classify(UpgradeRequest request)
    {
        if (request.Refusal == 0 && Settings.AllowedPaths.Count > 0 && !Settings.AllowedPaths.Contains(request.Path))
        {
            return (request with { Refusal = (int)HttpStatusCode.NotFound, Reason = "There is no WebSocket at this path" }, "");
        }

        return request is { Refusal: 0, Origin: { } origin } && Settings.AllowedOrigins.Count > 0
            && !Settings.AllowedOrigins.Contains(origin)
            ? (request with { Refusal = (int)HttpStatusCode.Forbidden, Reason = "Pages of this origin may not connect here" },
                $" ({EndpointError.Quote(origin)} is not among AllowedOrigins)")
            : (request, "");
    }

    /// <summary>Runs on a thread of its own until the first await, since it may block; abandoned at the time limit.</summary>
    private async Task<(UpgradeRequest Request, string Why)> AskAsync(
        Func<ValueTask<WebSocketAdmission>> ask, UpgradeRequest request, CancellationToken cancellation)
    {
        await _asking.WaitAsync(cancellation).ConfigureAwait(false);
        Task<WebSocketAdmission> asking = OnOwnThreadAsync(ask);
        try
        {
            WebSocketAdmission answer = await asking.WaitAsync(cancellation).ConfigureAwait(false);
            return (request with { Refusal = answer.Status, Reason = answer.Reason ?? "" }, "");
        }
        catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
        {
            _ = asking.ContinueWith(static late => _ = late.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted,
                TaskScheduler.Default);
            throw;
        }
        catch (Exception e)
        {
            return (request with { Refusal = (int)HttpStatusCode.InternalServerError, Reason = "The server could not decide" },
                $" (the application's own check of the request threw {e.GetType().Name}: {ExceptionText.MessageOf(e)})");
        }
    }

    private async Task<WebSocketAdmission> OnOwnThreadAsync(Func<ValueTask<WebSocketAdmission>> ask)
    {
        await ThreadHop.ToOwnThread;
        try
        {
            return await DefaultContext.Run(ask).ConfigureAwait(false);
        }
        finally
        {
            _asking.Release();
            await ThreadHop.ToPool;
        }
    }
}
