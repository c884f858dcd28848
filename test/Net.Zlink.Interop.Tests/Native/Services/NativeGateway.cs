namespace Net.Zlink.Interop.Tests.Native;

/// <summary>A gateway of the native core.</summary>
internal sealed unsafe class NativeGateway : IDisposable
{
    private nint _handle;

    public NativeGateway(NativeContext context, NativeDiscovery discovery, string? routingId = null)
    {
        _handle = NativeFunctions.zlink_gateway_new(context.Handle, discovery.Handle, routingId);
        NativeException.ThrowIfFailed(_handle == 0 ? -1 : 0, "new gateway");
        Router = new NativeSocket(NativeFunctions.zlink_gateway_router(_handle));
    }

    /// <summary>Its ROUTER, which the gateway closes. Natively replies are read here: the receive call of a gateway loses them.</summary>
    public NativeSocket Router { get; }

    /// <summary>How many receivers the gateway would send to. The first call for a service makes its pool, and gives 0.</summary>
    public int GetConnectionCount(string service)
    {
        int count = NativeFunctions.zlink_gateway_connection_count(_handle, service);
        NativeException.ThrowIfFailed(count, "connection count");
        return count;
    }

    public void SetWeighted(string service, bool weighted) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_gateway_set_lb_strategy(_handle, service, weighted ? 1 : 0), "set strategy");

    public void SetTlsClient(string caFile, string hostName) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_gateway_set_tls_client(_handle, caFile, hostName, 0), "set TLS");

    public void SetOption(int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* pointer = value)
        {
            NativeException.ThrowIfFailed(
                NativeFunctions.zlink_gateway_setsockopt(_handle, option, pointer, (nuint)value.Length), $"set option {option}");
        }
    }

    public NativeSendResult Send(string service, IReadOnlyList<byte[]> parts) => NativeParts.Send(
        parts, (pointer, count) => NativeFunctions.zlink_gateway_send(_handle, service, pointer, count, NativeFlags.None));

    public NativeSendResult SendTo(string service, byte[] routingId, IReadOnlyList<byte[]> parts)
    {
        // A zlink_routing_id_t: the length, then room for 255 bytes.
        byte[] id = [(byte)routingId.Length, .. routingId, .. new byte[byte.MaxValue - routingId.Length]];
        return NativeParts.Send(parts, (pointer, count) =>
        {
            fixed (byte* idPointer = id)
            {
                return NativeFunctions.zlink_gateway_send_rid(
                    _handle, service, (NativeRoutingIdStruct*)idPointer, pointer, count, NativeFlags.None);
            }
        });
    }

    /// <summary>What its receive call says, without waiting: it takes a message and answers -1 for it.</summary>
    public int TryReceive()
    {
        byte* service = stackalloc byte[256];
        return NativeFunctions.zlink_gateway_recv(_handle, out _, out _, NativeFlags.DontWait, service);
    }

    public void Dispose()
    {
        if (_handle != 0)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_gateway_destroy(ref _handle), "destroy gateway");
        }
    }
}
