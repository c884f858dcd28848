using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Connects with the other parts of the host, also if the container gave the client to a service before.</summary>
/// <param name="service">The service.</param>
/// <param name="client">The client.</param>
/// <param name="gateway">The gateway of a client that connects by itself.</param>
/// <param name="connect">Tells it where the receiver is.</param>
internal sealed class HostedClient(string service, RequestClient client, ServiceGateway? gateway, Action? connect)
    : HostedPart, IAsyncDisposable, IDisposable
{
    public override string Description => $"Client \"{service}\"";

    public RequestClient Client => client;

    public override void Connect() => connect?.Invoke();

    public override ValueTask EndAsync() => DisposeAsync();

    public void Dispose() => gateway?.Dispose();

    public ValueTask DisposeAsync() => gateway?.DisposeAsync() ?? ValueTask.CompletedTask;
}
