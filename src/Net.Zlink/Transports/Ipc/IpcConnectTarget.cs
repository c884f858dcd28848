namespace Net.Zlink.Transports.Ipc;

internal sealed class IpcConnectTarget(string text, IpcAddress address) : ConnectTarget(text, EndpointText.Ipc)
{
    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        IpcDialer.DialAsync(address, settings.Socket, time, connecting, cancellation);
}
