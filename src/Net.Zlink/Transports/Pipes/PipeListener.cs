using System.IO.Pipelines;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports.Pipes;

/// <summary>The listener of one connection, which the application brings. Nobody can dial it.</summary>
internal sealed class PipeListener(IDuplexPipe pipe, PeerDetails peer) : ITransportListener
{
    private readonly PipeWire _wire = new(pipe, peer);
    private readonly TaskCompletionSource<DisconnectReason> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public WireUpgrade? Upgrade => null;

    public string Endpoint { get; } = $"{PipeWire.Scheme}{EndpointText.Separator}{EndpointText.Printable(peer.Name)}";

    public long Handle => 0;

    public void Start(IAcceptSink sink, TimeProvider time) => sink.OnAccepted(_wire);

    public void Close()
    {
        // Nothing is accepted after the start.
    }

    public void Dispose() => _wire.Dispose();

    public void OnConnectionEnded(DisconnectReason reason) => _ended.TrySetResult(reason);

    /// <summary>The pipe is completed by then.</summary>
    public async Task<DisconnectReason> WaitForEndAsync()
    {
        DisconnectReason reason = await _ended.Task.ConfigureAwait(false);
        await _wire.Released.ConfigureAwait(false);
        return reason;
    }
}
