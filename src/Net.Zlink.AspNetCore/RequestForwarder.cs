using System.Runtime.CompilerServices;
using Net.Zlink.Services;

namespace Net.Zlink.AspNetCore;

/// <summary>A receiver whose handler asks a gateway.</summary>
internal sealed class RequestForwarder
{
    // Numbers below are the library's own. These are HTTP's, since its users know them.
    private const ushort FirstOfApplications = 256;
    private const ushort Malformed = 400;
    private const ushort Forbidden = 403;
    private const ushort TooMany = 429;
    private const ushort Failed = 500;
    private const ushort Unavailable = 503;
    private const ushort TookTooLong = 504;

    // Clients have no other endpoint to ask, so there is nothing to wait for once all is answered.
    private static readonly TimeSpan s_idleTime = TimeSpan.FromMilliseconds(50);

    private readonly ServiceGateway _gateway;
    private readonly ServiceReceiver _receiver;
    private readonly HashSet<string> _services;
    private readonly int _maxOpen;
    private readonly TimeSpan _maxTime;
    private readonly CancellationTokenSource _ending = new();

    // A connection's details are an object of its own, and its open requests count there.
    private readonly ConditionalWeakTable<PeerDetails, StrongBox<int>> _open = [];

    public RequestForwarder(ServiceGateway gateway, ZlinkRequestsOptions options)
    {
        _gateway = gateway;
        _services = [.. options.Services];
        (_maxOpen, _maxTime) = (options.MaxOpenRequests, options.MaxTime);
        _receiver = new ServiceReceiver(gateway.Context, options.Receiver);
        _ = _receiver.ServeAsync(ForwardAsync, options.MaxConcurrency);
    }

    public RouterSocket Socket => _receiver.Socket;

    /// <summary>Cancelled when what had come is answered.</summary>
    public CancellationToken Ending => _ending.Token;

    public async Task StopAsync()
    {
        try
        {
            var drain = new DrainOptions { MinDelay = TimeSpan.Zero, IdleTime = s_idleTime, Deadline = _maxTime };
            await _receiver.DrainAsync(drain).ConfigureAwait(false);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            // The context has ended before its host: there is nothing to answer with.
        }

        await _ending.CancelAsync().ConfigureAwait(false);
        await _receiver.DisposeAsync().ConfigureAwait(false);
    }

    private async ValueTask ForwardAsync(ServiceRequest request, CancellationToken cancellation)
    {
        if (!request.ExpectsReply || request.Message.PeerDetails is not { } peer)
        {
            return; // Nobody waits for it.
        }

        string service = request.Service;
        if (!_services.Contains(service))
        {
            request.TryRefuse(Forbidden, "This service may not be asked for here.");
            return;
        }

        StrongBox<int> open = _open.GetValue(peer, static _ => new StrongBox<int>());
        try
        {
            if (Interlocked.Increment(ref open.Value) > _maxOpen)
            {
                request.TryRefuse(TooMany, "Too many requests of this connection are open.");
                return;
            }

            await AskAsync(request, service, cancellation).ConfigureAwait(false);
        }
        finally
        {
            Interlocked.Decrement(ref open.Value);
        }
    }

    private async ValueTask AskAsync(ServiceRequest request, string service, CancellationToken cancellation)
    {
        TimeSpan time = request.TimeLeft is { } left && left < _maxTime ? left : _maxTime;
        try
        {
            using MessageBuilder question = new(_gateway.Context.Pool);
            for (int i = 0; i < request.PartCount; i++)
            {
                question.Add(request[i].Span);
            }

            using ServiceReply reply = await AskAsync(question, service, time, cancellation).ConfigureAwait(false);
            using MessageBuilder answer = new(_gateway.Context.Pool);
            for (int i = 0; i < reply.PartCount; i++)
            {
                answer.Add(reply[i].Span);
            }

            await request.ReplyAsync(answer, cancellation).ConfigureAwait(false);
        }
        catch (ServiceException e)
        {
            Report(request, e);
        }
        catch (TimeoutException)
        {
            request.TryFail(TookTooLong, "The service took too long.");
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            request.TryRefuse(Unavailable, "The service is not available.");
        }
    }

    private ValueTask<ServiceReply> AskAsync(MessageBuilder question, string service, TimeSpan time, CancellationToken cancellation)
    {
        ServiceClient client = _gateway.GetClient(service);
        return question.Count > 0 ? client.RequestAsync(question, time, cancellation)
            : client.RequestAsync(ReadOnlyMemory<byte>.Empty, time, cancellation);
    }

    /// <summary>What an application says is for the client. What the library says names addresses and types.</summary>
    private static void Report(in ServiceRequest request, ServiceException e)
    {
        bool isOfApplication = e.Code >= FirstOfApplications;
        if (e.WasExecuted)
        {
            request.TryFail(isOfApplication ? e.Code : Failed, (isOfApplication ? e.Reason : null) ?? "The service failed.");
        }
        else if (e.Error == ServiceError.Failed)
        {
            request.TryRefuse(Malformed, "The service could not read the request.");
        }
        else
        {
            request.TryRefuse(
                isOfApplication ? e.Code : Unavailable, (isOfApplication ? e.Reason : null) ?? "The service is not available.");
        }
    }
}
