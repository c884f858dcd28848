using Microsoft.Extensions.Logging;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class HostedReceiver(IServiceProvider provider, ReceiverRegistration registration, ServiceReceiver receiver, ILogger logger)
    : HostedPart
{
    // Replies tell gateways for so long that they should ask others.
    private static readonly TimeSpan MaxDelay = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource _end = new();
    private readonly ServingSettings _settings = registration.Settings;
    private Task? _serving;
    private DrainClock? _clock;

    public override string Description => $"Receiver \"{registration.Service}\"";

    public ServiceReceiver Receiver => receiver;

    /// <summary>Null: there is no registry.</summary>
    public ServiceRegistration? Registration { get; private set; }

    private IReadOnlyList<string> Registries => registration.Section(provider)[Keys.Registries].Texts() ?? registration.Registries;

    public override void Open()
    {
        Setting section = registration.Section(provider);
        section[Keys.Health].Read([registration.Health ?? new ReceiverHealthOptions()]);
        foreach (string endpoint in section[Keys.Bind].Texts() ?? registration.Binds)
        {
            SocketDrain.Named(Description, "bind", endpoint, () => HostingLog.Bound(logger, Description, receiver.Bind(endpoint)));
        }
    }

    public override void Connect()
    {
        foreach (string endpoint in Registries)
        {
            SocketDrain.Named(Description, "connect", endpoint, () => receiver.ConnectRegistry(endpoint));
            HostingLog.Connects(logger, Description, endpoint);
        }
    }

    public override void Start() =>
        _serving = receiver.ServeAsync(registration.Handler(provider), _settings.MaxConcurrency, _end.Token);

    public override Task AnnounceAsync(CancellationToken cancellation)
    {
        if (Registries.Count > 0)
        {
            Registration = SettingFaults.Named(registration.Section(provider)[nameof(ServingSettings.Advertise)],
                () => receiver.Register(registration.Service, _settings.Advertise, _settings.Weight));
        }

        return Task.CompletedTask;
    }

    public override async Task DrainAsync(DrainClock clock, CancellationToken cancellation)
    {
        _clock = clock;
        TimeSpan limit = clock.Half;
        bool isKnown = receiver.Socket.PeerCount > 0 || Registration is not null;
        DrainReport report = await receiver.DrainAsync(
            new DrainOptions
            {
                MinDelay = !isKnown ? TimeSpan.Zero : limit == Timeout.InfiniteTimeSpan || limit / 4 > MaxDelay ? MaxDelay : limit / 4,
                IdleTime = isKnown ? new DrainOptions().IdleTime : TimeSpan.Zero,
                Deadline = limit == Timeout.InfiniteTimeSpan ? TimeSpan.MaxValue : limit,
            },
            cancellation).ConfigureAwait(false);
        SocketDrain.StopListening(receiver.Socket);
        HostingLog.ReceiverDrained(
            logger, Description, report.Accepted, report.Refused, report.Unfinished, report.Duration.TotalMilliseconds);
    }

    public override async ValueTask EndAsync()
    {
        if (_serving is { } serving)
        {
            // Callbacks of the tokens are the application's, too.
            Task ended = Task.WhenAll(_end.CancelAsync(), serving);
            TimeSpan limit = _clock?.Half ?? MaxDelay;
            await ended.WaitAsync(limit, _clock?.Clock ?? TimeProvider.System).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (!ended.IsCompleted)
            {
                HostingLog.HandlersCut(logger, Description, receiver.GetStatistics().Running, registration.HandlerName);
            }
        }

        await receiver.DisposeAsync().ConfigureAwait(false);
    }
}
