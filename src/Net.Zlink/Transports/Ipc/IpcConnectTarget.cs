namespace Net.Zlink.Transports.Ipc;

/// <summary>An ipc endpoint to connect to.</summary>
internal sealed class IpcConnectTarget(string text, IpcAddress address) : ConnectTarget(text, EndpointText.Ipc)
{
    /// <inheritdoc/>
    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        IpcDialer.DialAsync(address, settings.Socket, time, connecting, cancellation);
}
