using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>A receiver of the native core. Natively it heartbeats only the service that it registered last.</summary>
internal sealed unsafe class NativeReceiver : IDisposable
{
    private nint _handle;

    public NativeReceiver(NativeContext context, string? routingId = null)
    {
        _handle = NativeFunctions.zlink_receiver_new(context.Handle, routingId);
        NativeException.ThrowIfFailed(_handle == 0 ? -1 : 0, "new receiver");
        Router = new NativeSocket(NativeFunctions.zlink_receiver_router(_handle));

        // An absent registry is a failure, not a wait for ever.
        SetOption(NativeRole.ReceiverDealer, NativeOption.SendTimeout, 10_000);
        SetOption(NativeRole.ReceiverDealer, NativeOption.ReceiveTimeout, 10_000);
    }

    /// <summary>Its ROUTER, which the receiver closes: receive and answer here, on one thread.</summary>
    public NativeSocket Router { get; }

    public byte[] RoutingId => Router.GetOption(NativeOption.RoutingId);

    /// <summary>Binds and returns the endpoint with the port that was chosen.</summary>
    public string Bind(string endpoint)
    {
        NativeException.ThrowIfFailed(NativeFunctions.zlink_receiver_bind(_handle, endpoint), $"bind {endpoint}");
        return Router.LastEndpoint;
    }

    public void ConnectRegistry(string router) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_receiver_connect_registry(_handle, router), $"connect registry {router}");

    /// <summary>Waits for the answer, which must be yes.</summary>
    public void Register(string service, string advertise, uint weight = 1) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_receiver_register(_handle, service, advertise, weight), $"register {service} at {advertise}");

    public void UpdateWeight(string service, uint weight) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_receiver_update_weight(_handle, service, weight), "update weight");

    public void Unregister(string service) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_receiver_unregister(_handle, service), "unregister");

    public void SetTlsServer(string certificateFile, string keyFile) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_receiver_set_tls_server(_handle, certificateFile, keyFile), "set TLS");

    public void SetOption(int role, int option, int value) =>
        SetOption(role, option, MemoryMarshal.AsBytes(new ReadOnlySpan<int>(ref value)));

    public void SetOption(int role, int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* pointer = value)
        {
            NativeException.ThrowIfFailed(
                NativeFunctions.zlink_receiver_setsockopt(_handle, role, option, pointer, (nuint)value.Length), $"set option {option}");
        }
    }

    public void Dispose()
    {
        if (_handle != 0)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_receiver_destroy(ref _handle), "destroy receiver");
        }
    }
}
