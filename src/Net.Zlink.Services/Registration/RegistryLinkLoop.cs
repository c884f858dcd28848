using System.Text;
using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Runs one <see cref="RegistryLink"/>: feeds it events one after another, and does what it wants with a socket.</summary>
internal sealed class RegistryLinkLoop : IAsyncDisposable
{
    private readonly ZlinkContext _context;
    private readonly ushort _kind;
    private readonly TimeProvider _clock;
    private readonly ILogger _logger;
    private readonly RoutingId _routingId;
    private readonly Action<DealerOptions>? _configure;
    private readonly long _start;
    private readonly RegistryLink _link;
    private readonly Dictionary<Registration, LinkEntry> _entries = [];
    private readonly Channel<LinkEvent> _events = Channel.CreateUnbounded<LinkEvent>(new UnboundedChannelOptions { SingleReader = true });
    private readonly MessageBuilder _builder = new();
    private readonly byte[] _endpointBytes;
    private readonly ITimer _timer;
    private RegistryConnection? _connection;

    public RegistryLinkLoop(ZlinkContext context, ServiceKind kind, string registryEndpoint, string endpoint, RoutingId routingId,
        ReceiverOptions options)
    {
        _context = context;
        _kind = (ushort)kind;
        _clock = context.TimeProvider;
        _logger = context.LoggerFactory.CreateLogger(ServicesLog.Category);
        RegistryEndpoint = registryEndpoint;
        Endpoint = endpoint;
        _endpointBytes = Encoding.UTF8.GetBytes(endpoint);
        _routingId = routingId;
        _configure = options.ConfigureRegistryConnection;
        _start = _clock.GetTimestamp();
        _link = new RegistryLink(options.HeartbeatInterval, options.AckTimeout);
        _timer = _clock.CreateTimer(static state => ((RegistryLinkLoop)state!).Notify(new LinkEvent(LinkEventType.Tick)), this,
            Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Completion = Task.Run(RunAsync);
    }

    public string RegistryEndpoint { get; }

    public string Endpoint { get; }

    public bool IsReady => _link.IsReady;

    public long Reregistrations => _link.Reregistrations;

    /// <summary>Completes when the loop has ended; never fails.</summary>
    public Task Completion { get; }

    /// <summary>Registers.</summary>
    public void Add(Registration registration)
    {
        registration.SetStatus(this, NewStatus(RegistrationState.Pending));
        Notify(new LinkEvent(LinkEventType.Add, Registration: registration));
    }

    /// <summary>The registration has another weight.</summary>
    public void UpdateWeight(Registration registration) => Notify(new LinkEvent(LinkEventType.UpdateWeight, Registration: registration));

    /// <summary>Unregisters. Complete when the socket has accepted it, if it is connected.</summary>
    public Task RemoveAsync(Registration registration)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        return _events.Writer.TryWrite(new LinkEvent(LinkEventType.Remove, Registration: registration, Done: done)) ? done.Task
            : Task.CompletedTask;
    }

    /// <summary>Unregisters what is left, and ends.</summary>
    public async ValueTask DisposeAsync()
    {
        Notify(new LinkEvent(LinkEventType.Close));
        await Completion.ConfigureAwait(false);
    }

    private TimeSpan Now => _clock.GetElapsedTime(_start);

    private void Notify(LinkEvent happened) => _events.Writer.TryWrite(happened);

    private async Task RunAsync()
    {
        _link.Start();
        Execute();
        bool goesOn = true;
        while (goesOn && await _events.Reader.WaitToReadAsync().ConfigureAwait(false))
        {
            while (goesOn && _events.Reader.TryRead(out LinkEvent happened))
            {
                try
                {
                    goesOn = happened.Type != LinkEventType.Close;
                    Handle(happened);
                    Execute();
                }
                catch (Exception e)
                {
                    ServicesLog.TurnFailed(_logger, e, nameof(RegistryLinkLoop)); // A link must not end because of one event.
                }

                happened.Done?.TrySetResult();
            }

            ShowStatus();
            ArmTimer();
        }

        _events.Writer.TryComplete();
        while (_events.Reader.TryRead(out LinkEvent late))
        {
            late.Done?.TrySetResult();
        }

        _timer.Dispose();
        _connection?.Dispose();
        _builder.Dispose();
    }

    private void Handle(in LinkEvent happened)
    {
        TimeSpan now = Now;
        switch (happened.Type)
        {
            case LinkEventType.Ready when happened.Connection == _link.Connection && _connection is { } connection:
                if (connection.TryBegin())
                {
                    _link.OnReady(now, happened.Connection);
                }

                break;
            case LinkEventType.Lost when _link.IsReady || happened.Connection != _link.Connection:
                _link.OnLost(now, happened.Connection, happened.Text);
                break;
            case LinkEventType.Lost or LinkEventType.Failed when happened.Connection == _link.Connection && !_link.IsReady:
                ShowFailure(happened.Text);
                break;
            case LinkEventType.Ack:
                _link.OnAck(now, happened.Connection, happened.Status, happened.Text);
                break;
            case LinkEventType.Tick:
                _link.OnTick(now);
                break;
            case LinkEventType.Add:
                var entry = new LinkEntry(happened.Registration!.ServiceText, happened.Registration.Weight);
                _entries.Add(happened.Registration, entry);
                _link.Add(now, entry);
                break;
            case LinkEventType.UpdateWeight when _entries.TryGetValue(happened.Registration!, out LinkEntry? updated):
                _link.UpdateWeight(now, updated, happened.Registration!.Weight);
                break;
            case LinkEventType.Remove when _entries.Remove(happened.Registration!, out LinkEntry? removed):
                _link.Remove(removed);
                break;
            case LinkEventType.Close:
                _link.Close();
                break;
            default:
                break;
        }
    }

    private void Execute()
    {
        bool hasSent = false;
        while (_link.Commands.TryDequeue(out LinkCommand command))
        {
            switch (command.Action)
            {
                case LinkAction.Connect:
                    Connect();
                    break;
                case LinkAction.Disconnect:
                    _connection?.Dispose();
                    _connection = null;
                    hasSent = false;
                    break;
                case LinkAction.Send:
                    if (!TrySend(command))
                    {
                        _link.OnLost(Now, _link.Connection, "the connection takes no more messages");
                    }

                    hasSent = true;
                    break;
                case LinkAction.Warn:
                    ServicesLog.RegistryDoesNotAnswer(_logger, RegistryEndpoint, Endpoint);
                    break;
                default:
                    break;
            }
        }

        if (hasSent && _connection is { } connection && !connection.IsSame())
        {
            _link.OnLost(Now, _link.Connection, "the connection ended");
            Execute();
        }
    }

    private void Connect()
    {
        try
        {
            _connection = new RegistryConnection(_context, RegistryEndpoint, _routingId, _configure, _link.Connection, Notify);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            _link.OnLost(Now, _link.Connection, e.Message);
        }
    }

    private bool TrySend(in LinkCommand command)
    {
        if (_connection is not { } connection)
        {
            return true; // It was lost by a command before this one.
        }

        _builder.Clear();
        ReadOnlySpan<byte> service = command.Entry!.Service.Span;
        if (command.MessageId is MessageIds.Register or MessageIds.UpdateWeight)
        {
            RegistrationFrames.WriteRegister(_builder, command.MessageId, _kind, service, _endpointBytes,
                command.Weight);
        }
        else
        {
            RegistrationFrames.WriteShort(_builder, command.MessageId, _kind, service, _endpointBytes);
        }

        try
        {
            return connection.TrySend(_builder);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            return false;
        }
    }

    private void ArmTimer()
    {
        TimeSpan due = _link.NextTick is { } next ? next - Now : Timeout.InfiniteTimeSpan;
        _timer.Change(due < TimeSpan.Zero && due != Timeout.InfiniteTimeSpan ? TimeSpan.Zero : due, Timeout.InfiniteTimeSpan);
    }

    private void ShowFailure(string why)
    {
        foreach (LinkEntry entry in _entries.Values)
        {
            entry.State = RegistrationState.Unreachable;
            entry.Detail = why;
        }
    }

    private void ShowStatus()
    {
        DateTimeOffset start = _clock.GetUtcNow() - Now;
        foreach ((Registration registration, LinkEntry entry) in _entries)
        {
            registration.SetStatus(this, NewStatus(entry.State) with
            {
                StatusCode = entry.StatusCode,
                Detail = entry.Detail,
                AcceptedAt = start + entry.AcceptedAt,
                LastHeartbeatAt = start + entry.LastSentAt,
                Weight = entry.AcceptedWeight,
            });
        }
    }

    private RegistryStatus NewStatus(RegistrationState state) => new()
    {
        RegistryEndpoint = RegistryEndpoint,
        State = state,
        StatusCode = null,
        Detail = "",
        AcceptedAt = null,
        LastHeartbeatAt = null,
        Weight = null,
    };
}
