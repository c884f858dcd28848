using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>
/// The ROUTER socket of a registry: answers requests in order, each by the connection that it came by, and ticks behind what has come by
/// then.
/// </summary>
internal sealed class RegistryRouter : IAsyncDisposable
{
    private const int MessagesPerBatch = 256;

    // Under steady inflow the queue is never empty: expiry must come nevertheless.
    private const int MaxMessagesBeforeTick = 1024;

    private readonly RouterSocket _socket;
    private readonly RegistryCore _core;
    private readonly Func<RegistrationRequest, string?>? _admission;
    private readonly Action _handled;
    private readonly Action _tick;
    private readonly ILogger _logger;
    private readonly Message[] _batch = new Message[MessagesPerBatch];
    private readonly MessageBuilder _ack;
    private readonly PeriodicTimer _timer;
    private readonly BackgroundLoop _loop;
    private Task<int>? _receiving;
    private Task<bool>? _ticking;

    /// <summary>Owns the bound socket. <paramref name="handled"/> is called behind each batch of requests, <paramref name="tick"/> each
    /// <paramref name="tickInterval"/>.</summary>
    public RegistryRouter(ZlinkContext context, RouterSocket socket, RegistryCore core, RegistryOptions options, TimeSpan tickInterval,
        ILogger logger, Action handled, Action tick)
    {
        _socket = socket;
        _core = core;
        _admission = options.Admission;
        _handled = handled;
        _tick = tick;
        _logger = logger;
        _ack = new MessageBuilder(context.Pool);
        _timer = new PeriodicTimer(tickInterval, context.TimeProvider);
        _loop = BackgroundLoop.Start("registry's requests", logger, context.TimeProvider, TurnAsync);
    }

    public async ValueTask DisposeAsync()
    {
        _socket.Dispose();
        await _loop.DisposeAsync().ConfigureAwait(false); // Before the timer: one that is disposed ticks for ever.
        _timer.Dispose();
        _ack.Dispose();
        if (_receiving is not null)
        {
            await ((Task)_receiving).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        Array.ForEach(_batch, static message => message.Dispose()); // What was received and is not dealt with any more.
    }

    private async ValueTask TurnAsync(CancellationToken cancellationToken)
    {
        // Two tasks that outlive a turn, so that a tick is no cancelled receive: an exception each time.
        _receiving ??= _socket.ReceiveManyAsync(_batch, cancellationToken).AsTask();
        _ticking ??= _timer.WaitForNextTickAsync(cancellationToken).AsTask();
        await Task.WhenAny(_receiving, _ticking).ConfigureAwait(false);
        if (_receiving.IsCompleted)
        {
            Task<int> received = _receiving;
            _receiving = null;
            Handle(await received.ConfigureAwait(false));
        }

        if (_ticking.IsCompleted)
        {
            _ticking = null;
            if (_receiving is null)
            {
                HandleQueued();
            }

            _tick();
        }
        else
        {
            _handled();
        }
    }

    /// <summary>Deals with what is queued now: a heartbeat that has come counts, whenever it is read.</summary>
    private void HandleQueued()
    {
        for (int handled = 0; handled < MaxMessagesBeforeTick;)
        {
            int count = _socket.ReceiveMany(_batch);
            if (count == 0)
            {
                break;
            }

            Handle(count);
            handled += count;
        }
    }

    private void Handle(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using Message message = _batch[i];
            _batch[i] = default;
            try
            {
                Handle(message);
            }
            catch (Exception e) when (e is not (ObjectDisposedException or ZlinkException))
            {
                ServicesLog.TurnFailed(_logger, e, "registry's requests"); // The other messages of the batch have their answers to come.
            }
        }
    }

    private void Handle(in Message message)
    {
        var frames = new Frames(message);
        RegistryRequest request = RegistryRequest.Read(frames);
        RoutingId sender = message.RoutingId;
        string? refusal = request is { Id: MessageIds.Register, Fault: null } && _admission is not null
            ? Refusal(_admission, request, message)
            : null;
        if (_core.Do((state, now) => state.Handle(now, request, sender, refusal)) is { } ack)
        {
            _ack.Clear();
            RegistrationFrames.WriteAck(_ack, ack.Status, ack.EchoesEndpoint ? frames[RegistryAck.EndpointFrame] : [], ack.Error);
            _ack.AddMark();
            _socket.TrySendTo(message, _ack, out _); // A peer that has gone needs no answer.
        }
    }

    private string? Refusal(Func<RegistrationRequest, string?> admission, in RegistryRequest request, in Message message)
    {
        string service = request.Entry.Service.Name.ToString();
        string endpoint = request.Entry.Endpoint.ToString();
        try
        {
            return admission(new RegistrationRequest
            {
                Kind = (ServiceKind)request.Entry.Service.Kind,
                Service = service,
                Endpoint = endpoint,
                Weight = request.Weight,
                RoutingId = new RoutingId(message.RoutingId.ToArray()),
                RemoteAddress = message.RemoteAddress,
                RemoteCertificate = message.RemoteCertificate,
                WebSocketRequest = message.WebSocketRequest,
            });
        }
        catch (Exception e)
        {
            ServicesLog.AdmissionFailed(_logger, e, _core.Id, service, endpoint);
            return "admission failed";
        }
    }
}
