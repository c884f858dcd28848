using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class HostedStream(IServiceProvider provider, StreamRegistration registration, StreamSocket socket, ILogger logger)
    : HostedPart
{
    private StreamServing? _serving;

    public override string Description => registration.Description;

    /// <summary>A handler is called as soon as a peer comes, so that one is bound with the application's services.</summary>
    public override void Open()
    {
        registration.CheckedSection(provider, Keys.Bind);
        if (registration.Serving is null)
        {
            BindAll(socket.Bind);
        }
    }

    public override void Start()
    {
        _serving = registration.Serving?.Invoke(provider, socket);
        if (_serving is { } serving)
        {
            BindAll(serving.Bind);
        }
    }

    public override async Task DrainAsync(DrainClock clock, CancellationToken cancellation)
    {
        SocketDrain.StopListening(socket);
        if (_serving is { } serving)
        {
            await serving.DrainAsync(clock.Half, clock.Clock, cancellation).ConfigureAwait(false);
        }

        await SocketDrain.RunAsync(socket, Description, logger, clock, cancellation).ConfigureAwait(false);
    }

    public override ValueTask EndAsync()
    {
        SocketDrain.End(socket, Description, logger);
        return ValueTask.CompletedTask;
    }

    private void BindAll(Func<string, string> bind)
    {
        foreach (string endpoint in registration.Section(provider)[Keys.Bind].Texts() ?? registration.Binds)
        {
            SocketDrain.Named(Description, "bind", endpoint, () => HostingLog.Bound(logger, Description, bind(endpoint)));
        }
    }
}
