using System.Threading.Channels;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>
/// The ROUTER socket of a registry: one loop that reads requests, does what was posted to it, and ticks behind what has come by then.
/// </summary>
internal sealed class RegistryRouter : IAsyncDisposable
{
    private const int MessagesPerBatch = 256;

    // Under steady inflow the queue is never empty: expiry must come nevertheless.
    private const int MaxMessagesBeforeTick = 1024;

    private readonly RouterSocket _socket;
    private readonly RegistryRequestQueue _desk;
    private readonly Channel<Action> _posted = Channel.CreateUnbounded<Action>(new UnboundedChannelOptions { SingleReader = true });
    private readonly IDisposable? _events;
    private readonly Action _handled;
    private readonly Action _tick;
    private readonly ILogger _logger;
    private readonly Message[] _batch = new Message[MessagesPerBatch];
    private readonly PeriodicTimer _timer;
    private readonly BackgroundLoop _loop;
    private Task<int>? _receiving;
    private Task<bool>? _ticking;
    private Task<bool>? _postedSome;

    /// <summary>Owns the bound socket. <paramref name="handled"/> is called behind each batch of requests, <paramref name="tick"/> each
    /// <paramref name="tickInterval"/>.</summary>
    public RegistryRouter(
        ZlinkContext context, RouterSocket socket, RegistryCore core, ServiceRegistryOptions options, TimeSpan tickInterval,
        ILogger logger, Action handled, Action tick)
    {
        _socket = socket;
        _handled = handled;
        _tick = tick;
        _logger = logger;
        _desk = new RegistryRequestQueue(context, socket, core, options, logger, Post);
        _events = options.Admission is null ? null : socket.OnEvent(SocketEventTypes.Disconnected,
            happened => Post(() => _desk.Lost(happened.RemoteAddress)));
        _timer = new PeriodicTimer(tickInterval, context.TimeProvider);
        _loop = BackgroundLoop.Start("registry's requests", logger, context.TimeProvider, TurnAsync);
    }

    public int Clients => _socket.PeerCount;

    public int UndecidedClients => _desk.UndecidedClients;

    public async ValueTask DisposeAsync()
    {
        _events?.Dispose();
        _socket.Dispose();
        await _loop.DisposeAsync().ConfigureAwait(false); // Before the timer: one that is disposed ticks for ever.
        _timer.Dispose();
        _desk.Dispose();
        if (_receiving is not null)
        {
            await ((Task)_receiving).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        Array.ForEach(_batch, static message => message.Dispose()); // What was received and is not dealt with any more.
    }

    private async ValueTask TurnAsync(CancellationToken cancellationToken)
    {
        // Tasks that outlive a turn, so that a tick is no cancelled receive: an exception each time.
        _receiving ??= _socket.ReceiveManyAsync(_batch, cancellationToken).AsTask();
        _ticking ??= _timer.WaitForNextTickAsync(cancellationToken).AsTask();
        _postedSome ??= _posted.Reader.WaitToReadAsync(cancellationToken).AsTask();
        await Task.WhenAny(_receiving, _ticking, _postedSome).ConfigureAwait(false);
        if (_receiving.IsCompleted)
        {
            Task<int> received = _receiving;
            _receiving = null;
            Handle(await received.ConfigureAwait(false));
        }

        if (_postedSome.IsCompleted)
        {
            _postedSome = null;
            DoPosted();
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
            Guard(message, static (router, message) => router._desk.Take(message));
        }
    }

    private void Post(Action action) => _posted.Writer.TryWrite(action);

    private void DoPosted()
    {
        while (_posted.Reader.TryRead(out Action? action))
        {
            Guard(action, static (_, action) => action());
        }
    }

    /// <summary>One that fails does not take the others of its batch along: they have their answers to come.</summary>
    private void Guard<T>(T argument, Action<RegistryRouter, T> action)
    {
        try
        {
            action(this, argument);
        }
        catch (Exception e) when (e is not (ObjectDisposedException or ZlinkException))
        {
            ServicesLog.TurnFailed(_logger, e, "registry's requests");
        }
    }
}
