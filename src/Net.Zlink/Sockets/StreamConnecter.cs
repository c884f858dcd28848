using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>One connect of a STREAM. Each of its connections is a new peer with a new id.</summary>
internal sealed class StreamConnecter : IConnecter, IConnectionOrigin
{
    private static readonly ReconnectPolicy s_never = new(TimeSpan.Zero, TimeSpan.Zero);

    private readonly StreamHub _hub;
    private readonly StreamSettings _settings;
    private readonly PeerFactory _factory;
    private readonly bool _reconnects;
    private readonly DialerLoop _dialer;
    private readonly TaskCompletionSource<uint> _first = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public StreamConnecter(StreamHub hub, WireEndpoint target, StreamSettings settings, PeerFactory factory, ReconnectPolicy? reconnect)
    {
        _hub = hub;
        _settings = settings;
        _factory = factory;
        _reconnects = reconnect is not null;
        _dialer = new DialerLoop(hub.Table, target,
            new DialerSettings(settings.Transport, reconnect ?? s_never, settings.Connection.CloseTimeout) { IsAwaited = true }, this);
    }

    /// <summary>Why there is no first connection.</summary>
    public DialResult Failure => !_dialer.IsClosing ? _dialer.LastFailure
        : _dialer.LastFailure with { Sentence = "it was disconnected meanwhile" };

    /// <summary>The first peer's id, or 0.</summary>
    public async ValueTask<uint> ConnectAsync(CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested || !_hub.Parts.TryEnter())
        {
            return 0;
        }

        _hub.Table.TryAdd(_dialer, isOnly: false);
        _dialer.Start();
        if (_hub.IsClosed)
        {
            _dialer.Abort(); // Closed between the two steps, perhaps without seeing it.
        }

        using CancellationTokenRegistration registration =
            cancellation.UnsafeRegister(static dialer => ((DialerLoop)dialer!).CancelAttempt(), _dialer);
        return await _first.Task.ConfigureAwait(false);
    }

    public bool Begin(Wire wire)
    {
        if (_hub.Open(wire, _settings, _factory, _dialer.Target.Redacted, origin: this) is not { } link)
        {
            return false;
        }

        _dialer.OnReady();
        _first.TrySetResult(link.Id);
        return true;
    }

    public void RequestClose(DisconnectReason reason, CloseMode mode, TimeSpan? linger)
    {
        foreach (StreamLink link in _hub.Links.Of(this))
        {
            if (_hub.IsClosed || !_hub.Disconnect(link.Id, mode))
            {
                link.RequestClose(reason, mode, linger);
            }
        }
    }

    public void OnConnectionEnded(DisconnectReason reason)
    {
        bool isFault = reason is DisconnectReason.ProtocolError or DisconnectReason.HandlerFailed;
        bool isOurs = isFault || reason is DisconnectReason.Local or DisconnectReason.ContextTerminated;
        string problem = $"the connection ended: {reason.Words()}";
        if (isOurs && !isFault)
        {
            _dialer.Abort(); // The application's wish, which no event reports.
        }

        _dialer.OnEnded(new ConnectionEnd(problem) { WasReady = true, WhyNoFurther = isOurs ? problem : null, IsFinal = isOurs });
        _dialer.OnClosed();
    }

    public void Release(string why)
    {
        if (_reconnects && why.Length > 0)
        {
            EndpointEvents.GivenUp(_hub.Monitors, _hub.Host, _dialer.Target.Redacted, default, why);
        }

        _first.TrySetResult(0);
    }
}
