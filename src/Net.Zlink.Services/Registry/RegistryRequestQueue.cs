using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>
/// Processes the requests of each connection in their order. A request that waits for admission delays only the later requests of its
/// connection. Used by the router's loop alone.
/// </summary>
internal sealed class RegistryRequestQueue : IDisposable
{
    // Answers have no number, so none may be refused out of its turn: beyond this the connection ends. 4 MiB are 10,000 requests and more.
    private const long MaxWaitingBytes = 4 * 1024 * 1024;
    private const long MaxWaitingBytesOfAll = 64 * 1024 * 1024;

    private readonly RouterSocket _socket;
    private readonly RegistryCore _core;
    private readonly Admissions? _admissions;
    private readonly ILogger _logger;
    private readonly MessageBuilder _ack;
    private readonly HashSet<RegistryRequester> _waiting = [];
    private int _undecidedClients;

    /// <param name="context">Gives the clock and the pool.</param>
    /// <param name="socket">Answers go by it.</param>
    /// <param name="core">The registry's state.</param>
    /// <param name="options">The application's policy.</param>
    /// <param name="logger">The log.</param>
    /// <param name="post">Has an action done by the router's loop.</param>
    public RegistryRequestQueue(
        ZlinkContext context, RouterSocket socket, RegistryCore core, ServiceRegistryOptions options, ILogger logger,
        Action<Action> post)
    {
        _socket = socket;
        _core = core;
        _logger = logger;
        _ack = new MessageBuilder(context.Pool);
        _admissions = options.Admission is null ? null
            : new Admissions(options, core.Id, context.TimeProvider, logger,
                (question, admission) => post(() => Decided(question, admission)));
    }

    /// <summary>For any thread.</summary>
    public int UndecidedClients => Volatile.Read(ref _undecidedClients);

    /// <summary>Deals with a request now, or when its turn has come.</summary>
    public void Take(in Message message)
    {
        if (message.UserState is not RegistryRequester client)
        {
            message.UserState = client = new RegistryRequester(message);
        }

        if (client.HasEnded)
        {
            return;
        }

        var frames = new Frames(message);
        RegistryRequest request = RegistryRequest.Read(frames);
        if (client.IsWaiting || AsksAdmission(request, client, out _))
        {
            bool isFirst = !client.IsWaiting;
            client.Enqueue(message, new WaitingRequest(request, request.Fault is not { } fault ? null
                : fault.EchoesEndpoint ? frames[RegistryAck.EndpointFrame].ToArray() : []));
            _waiting.Add(client);
            Volatile.Write(ref _undecidedClients, _waiting.Count);
            if (isFirst)
            {
                Continue(client);
            }

            LimitWaiting(client);
        }
        else
        {
            Answer(message, client, request, request.Fault is { EchoesEndpoint: false } || request.Id is not (MessageIds.Register
                or MessageIds.UpdateWeight) ? [] : frames[RegistryAck.EndpointFrame], default);
        }
    }

    /// <summary>A connection has ended. Its waiting requests are dropped, except UNREGISTER, which is still executed.</summary>
    public void Lost(string remoteAddress)
    {
        foreach (RegistryRequester client in _waiting.ToArray()
            .Where(client => string.Equals(client.RemoteAddress, remoteAddress, StringComparison.Ordinal)))
        {
            End(client);
        }
    }

    public void Dispose()
    {
        _admissions?.Dispose();
        _ack.Dispose();
        foreach (RegistryRequester client in _waiting)
        {
            while (client.IsWaiting)
            {
                client.Dequeue();
            }
        }
    }

    private bool AsksAdmission(RegistryRequest request, RegistryRequester client, out bool isOwner)
    {
        isOwner = false;
        if (_admissions is null)
        {
            return false;
        }

        (bool asks, isOwner) = _core.Do((state, _) => (state.AsksAdmission(request, client.Sender, out bool owns), owns));
        return asks;
    }

    private void Decided(in AdmissionQuestion question, in RegistrationAdmission admission)
    {
        foreach (RegistryRequester client in _admissions!.Close(question))
        {
            if (client.TryPeek(out WaitingRequest waiting))
            {
                Answer(client.Origin, client, waiting.Request, waiting.EchoOrEndpoint, admission);
                client.Dequeue();
                Continue(client);
            }
        }
    }

    /// <summary>Processes waiting requests up to the next one that needs admission.</summary>
    private void Continue(RegistryRequester client)
    {
        while (client.TryPeek(out WaitingRequest waiting))
        {
            if (AsksAdmission(waiting.Request, client, out bool isOwner))
            {
                _admissions!.Ask(AdmissionQuestion.Of(waiting.Request, client, isOwner), client);
                return;
            }

            Answer(client.Origin, client, waiting.Request, waiting.EchoOrEndpoint, default);
            client.Dequeue();
        }

        _waiting.Remove(client);
        Volatile.Write(ref _undecidedClients, _waiting.Count);
    }

    private void LimitWaiting(RegistryRequester client)
    {
        RegistryRequester? excess = client.WaitingBytes > MaxWaitingBytes ? client
            : _waiting.Sum(static one => one.WaitingBytes) > MaxWaitingBytesOfAll ? _waiting.MaxBy(static one => one.WaitingBytes)
            : null;
        if (excess is null)
        {
            return;
        }

        ServicesLog.TooMuchWaits(_logger, _core.Id, excess.RemoteAddress, excess.WaitingBytes);
        if (_socket.GetPeers().FirstOrDefault(peer => ReferenceEquals(peer.UserState, excess)) is { } connection)
        {
            _socket.Disconnect(connection);
        }

        End(excess);
    }

    private void End(RegistryRequester client)
    {
        client.HasEnded = true;
        while (client.TryPeek(out WaitingRequest waiting))
        {
            if (waiting.Request.Id == MessageIds.Unregister)
            {
                Answer(client.Origin, client, waiting.Request, [], default);
            }

            client.Dequeue();
        }

        _waiting.Remove(client);
        Volatile.Write(ref _undecidedClients, _waiting.Count);
    }

    private void Answer(in Message to, RegistryRequester client, RegistryRequest request, ReadOnlySpan<byte> echo,
        RegistrationAdmission admission)
    {
        HashSet<(RoutingId Id, string Address)>? connected =
            request.Id == MessageIds.Unregister && _core.Do((state, _) => state.AsksConnections(request)) ? Connections() : null;
        if (_core.Do((state, now) => state.Handle(now, request, client.Sender, admission, connected)) is { } ack)
        {
            _ack.Clear();
            RegistrationFrames.WriteAck(_ack, ack.Status, echo, ack.Error);
            _ack.AddMark();
            _socket.To(to).TrySend(_ack); // A peer that has gone needs no answer.
        }
    }

    private HashSet<(RoutingId Id, string Address)> Connections() =>
    [
        .. from peer in _socket.GetPeers()
           where peer.IsConnected
           select (peer.RoutingId, RegistrySender.AddressOf(peer.RemoteAddress)),
    ];
}
