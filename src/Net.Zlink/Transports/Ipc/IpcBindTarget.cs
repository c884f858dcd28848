namespace Net.Zlink.Transports.Ipc;

internal sealed class IpcBindTarget(string text, IpcAddress address) : BindTarget(text)
{
    public override BindResult Bind(TransportSettings settings) => IpcListener.Bind(address, settings.Socket);
}
