namespace Net.Zlink.Transports.Ipc;

/// <summary>An ipc endpoint to bind.</summary>
internal sealed class IpcBindTarget(string text, IpcAddress address) : BindTarget(text)
{
    /// <inheritdoc/>
    public override BindResult Bind(TransportSettings settings) => IpcListener.Bind(address, settings.Socket);
}
