using System.Text;
using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Runs one <see cref="RegistryLink"/>: passes events to it one after another, and executes its commands with a socket.</summary>
internal sealed class RegistryLinkLoop(ZlinkContext context, ServiceKind kind, string registryEndpoint, string endpoint,
    RoutingId routingId, RegistrationSettings settings) : IAsyncDisposable
{
    private readonly TimeProvider _clock = context.TimeProvider;
    private readonly ILogger _logger = context.LoggerFactory.CreateLogger(ServicesLog.Category);
    private readonly FollowedLists _lists = FollowedLists.Of(context);
    private readonly RegistryLink _link = new(settings.HeartbeatInterval, settings.AckTimeout, Random.Shared.NextDouble());
    private readonly Dictionary<ServiceRegistration, LinkEntry> _entries = [];
    private readonly Channel<Action> _events = Channel.CreateUnbounded<Action>(new UnboundedChannelOptions { SingleReader = true });
    private readonly MessageBuilder _builder = new();
    private readonly byte[] _endpointBytes = Encoding.UTF8.GetBytes(endpoint);
    private Task _completion = Task.CompletedTask;
    private RegistryConnection? _connection;

    public string RegistryEndpoint => registryEndpoint;

    public string Endpoint => endpoint;

    public long Reregistrations => _link.Reregistrations;

    public void Start() => _completion = Task.Run(RunAsync);

    public void Add(ServiceRegistration registration)
    {
        var entry = new LinkEntry(registration.ServiceText, registration.Weight);
        registration.SetStatus(this, StatusOf(entry));
        Post(() =>
        {
            _entries.Add(registration, entry);
            _link.Add(Now, entry);
        });
    }

    /// <summary>Complete when the status is one behind it: what was refused before is no answer to it.</summary>
    public Task UpdateWeightAsync(ServiceRegistration registration)
    {
        Post(() =>
        {
            if (_entries.TryGetValue(registration, out LinkEntry? entry))
            {
                _link.UpdateWeight(Now, entry, registration.Weight);
            }
        });
        return AfterEventsAsync(ShowStatuses);
    }

    /// <summary>Unregisters. Complete when the socket has accepted it, if it is connected.</summary>
    public Task RemoveAsync(ServiceRegistration registration)
    {
        Post(() =>
        {
            if (_entries.Remove(registration, out LinkEntry? entry))
            {
                _link.Remove(entry);
            }
        });
        return AfterEventsAsync(static () => { });
    }

    /// <summary>Unregisters what is left, and ends.</summary>
    public async ValueTask DisposeAsync()
    {
        Post(() =>
        {
            _events.Writer.TryComplete();
            _link.Close();
        });
        await _completion.ConfigureAwait(false);
    }

    /// <summary>A connection is ready.</summary>
    public void OnReady(int connection) => Post(() =>
    {
        if (connection == _link.Connection && _connection is { } present && present.TryBegin())
        {
            _link.OnReady(Now, connection);
        }
    });

    /// <summary>A connection has ended.</summary>
    public void OnLost(int connection, string why) => Post(() =>
    {
        if (_link.IsReady)
        {
            _link.OnLost(Now, connection, why);
        }
        else
        {
            ShowFailure(connection, why);
        }
    });

    /// <summary>An attempt to connect failed; the socket retries.</summary>
    public void OnFailed(int connection, string why) => Post(() => ShowFailure(connection, why));

    public void OnAck(int connection, byte status, string text, bool hasAnsweredHeartbeats) =>
        Post(() => _link.OnAck(Now, connection, status, text, hasAnsweredHeartbeats));

    /// <summary>Measured from the clock's zero, which all links share.</summary>
    private TimeSpan Now => _clock.GetElapsedTime(0);

    private bool Post(Action happened) => _events.Writer.TryWrite(happened);

    /// <summary>Complete when all earlier events and then this one were processed.</summary>
    private Task AfterEventsAsync(Action last)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        return Post(() =>
        {
            last();
            done.SetResult();
        }) ? done.Task : Task.CompletedTask;
    }

    private async Task RunAsync()
    {
        ITimer timer = _clock.CreateTimer(_ => Post(OnTick), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _link.Start();
        Execute();
        while (await _events.Reader.WaitToReadAsync().ConfigureAwait(false))
        {
            while (_events.Reader.TryRead(out Action? happened))
            {
                try
                {
                    happened();
                    Execute();
                }
                catch (Exception e)
                {
                    ServicesLog.TurnFailed(_logger, e, nameof(RegistryLinkLoop)); // A link must not end because of one event.
                }
            }

            timer.ChangeDue(_link.NextTick - Now); // Ahead of the statuses: who sees one knows that what follows it is due.
            ShowStatuses();
        }

        timer.Dispose();
        _connection?.Dispose();
        _builder.Dispose();
    }

    private void ShowStatuses()
    {
        DateTimeOffset start = _clock.GetUtcNow() - Now;
        foreach ((ServiceRegistration registration, LinkEntry entry) in _entries)
        {
            registration.SetStatus(this, StatusOf(entry, start));
        }
    }

    private void OnTick()
    {
        if (_link.JudgesByLists(Now))
        {
            foreach (LinkEntry entry in _entries.Values)
            {
                entry.IsSeen = _lists.Lists(kind, entry.Service.ToString(), endpoint, registryEndpoint, entry.WasSeen);
                entry.WasSeen |= entry.IsSeen == true;
            }
        }

        _link.OnTick(Now);
    }

    /// <summary>Executes the link's commands in order.</summary>
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
                    hasSent = true;
                    if (!TrySend(command))
                    {
                        _link.OnLost(Now, _link.Connection, "the connection accepts no more messages");
                    }

                    break;
                case LinkAction.WarnRefused:
                    ServicesLog.RegistrationRefused(_logger, registryEndpoint, command.Entry!.Service.ToString(), endpoint,
                        command.Entry.Detail, RegistryLink.RefusalPause.TotalSeconds);
                    break;
                case LinkAction.WarnUnconfirmed:
                    ServicesLog.RegistrationUnconfirmed(_logger, registryEndpoint, command.Entry!.Service.ToString(), endpoint);
                    break;
                default:
                    ServicesLog.RegistryDoesNotAnswer(_logger, registryEndpoint, endpoint);
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
            _connection = new RegistryConnection(context, this, routingId, settings.Socket, _link.Connection);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            _link.OnLost(Now, _link.Connection, e.Message);
        }
    }

    private bool TrySend(in LinkCommand command)
    {
        _builder.Clear();
        ReadOnlySpan<byte> service = command.Entry!.Service.Span;
        if (command.MessageId is MessageIds.Register or MessageIds.UpdateWeight)
        {
            RegistrationFrames.WriteRegister(_builder, command.MessageId, (ushort)kind, service, _endpointBytes, command.Weight);
        }
        else
        {
            RegistrationFrames.WriteShort(_builder, command.MessageId, (ushort)kind, service, _endpointBytes);
        }

        try
        {
            return _connection?.TrySend(_builder) ?? true; // Where there is none, it was lost by a command before this one.
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            return false;
        }
    }

    private void ShowFailure(int connection, string why)
    {
        if (_link.IsReady || connection != _link.Connection)
        {
            return;
        }

        foreach (LinkEntry entry in _entries.Values)
        {
            (entry.State, entry.Detail) = (RegistrationState.Unreachable, why);
        }
    }

    private RegistryStatus StatusOf(LinkEntry entry, DateTimeOffset start = default) => new()
    {
        RegistryEndpoint = registryEndpoint,
        State = entry.State,
        StatusCode = entry.StatusCode,
        Detail = entry.Detail,
        AcceptedAt = start + entry.AcceptedAt,
        LastHeartbeatAt = start + entry.LastSentAt,
        Weight = entry.AcceptedWeight,
        RetryAt = start + entry.RetryAt,
    };
}
