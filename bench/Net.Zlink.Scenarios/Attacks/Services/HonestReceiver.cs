using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A receiver that answers at once.</summary>
internal sealed class HonestReceiver : IAsyncDisposable
{
    private readonly Task _serving;

    public HonestReceiver(ZlinkContext context)
    {
        Receiver = new ServiceReceiver(context);
        Endpoint = Receiver.Bind("tcp://127.0.0.1:*");
        _serving = Receiver.ServeAsync(static (request, stop) => request.ReplyAsync(request.Memory, stop));
    }

    public ServiceReceiver Receiver { get; }

    public string Endpoint { get; }

    public async ValueTask DisposeAsync()
    {
        await Receiver.DisposeAsync();
        await _serving.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }
}
