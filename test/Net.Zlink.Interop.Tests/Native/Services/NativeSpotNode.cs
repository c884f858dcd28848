using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>A SPOT node of the native core with one publisher handle. Any thread may call it.</summary>
internal sealed unsafe class NativeSpotNode : IDisposable
{
    private nint _handle;
    private nint _publisher;

    public NativeSpotNode(NativeContext context)
    {
        _handle = NativeFunctions.zlink_spot_node_new(context.Handle);
        NativeException.ThrowIfFailed(_handle == 0 ? -1 : 0, "new node");
        _publisher = NativeFunctions.zlink_spot_pub_new(_handle);
        NativeException.ThrowIfFailed(_publisher == 0 ? -1 : 0, "new publisher");
    }

    /// <summary>Binds exactly this endpoint: a port that the system chose cannot be asked for.</summary>
    public void Bind(string endpoint) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_node_bind(_handle, endpoint), $"bind {endpoint}");

    public void ConnectRegistry(string router) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_node_connect_registry(_handle, router), $"connect registry {router}");

    public void ConnectPeer(string publisher) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_node_connect_peer_pub(_handle, publisher), $"connect peer {publisher}");

    public void DisconnectPeer(string publisher) =>
        NativeException.ThrowIfFailed(
            NativeFunctions.zlink_spot_node_disconnect_peer_pub(_handle, publisher), $"disconnect peer {publisher}");

    /// <summary>Waits without a limit for the answer, which must be yes. Null: the default service, the one bound endpoint.</summary>
    public void Register(string? service = null, string? advertise = null) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_node_register(_handle, service, advertise), "register node");

    public void Unregister(string? service = null) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_node_unregister(_handle, service), "unregister node");

    /// <summary>From now on the peers are exactly what the discovery has, which must be of type 2.</summary>
    public void SetDiscovery(NativeDiscovery discovery, string? service = null) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_spot_node_set_discovery(_handle, discovery.Handle, service), "set discovery");

    public void SetTlsServer(string certificateFile, string keyFile) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_spot_node_set_tls_server(_handle, certificateFile, keyFile), "set TLS server");

    public void SetTlsClient(string caFile, string hostName) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_spot_node_set_tls_client(_handle, caFile, hostName, 0), "set TLS client");

    /// <summary>See <see cref="NativeRole"/> and <see cref="NativeSpotOption"/>.</summary>
    public void SetOption(int role, int option, int value) =>
        SetOption(role, option, MemoryMarshal.AsBytes(new ReadOnlySpan<int>(ref value)));

    public void SetOption(int role, int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* pointer = value)
        {
            NativeException.ThrowIfFailed(
                NativeFunctions.zlink_spot_node_setsockopt(_handle, role, option, pointer, (nuint)value.Length), $"set option {option}");
        }
    }

    public NativeSendResult Publish(string topic, IReadOnlyList<byte[]> parts) => NativeParts.Send(
        parts, (pointer, count) => NativeFunctions.zlink_spot_pub_publish(_publisher, topic, pointer, count, NativeFlags.None));

    public NativeSpotSubscriber CreateSubscriber()
    {
        nint subscriber = NativeFunctions.zlink_spot_sub_new(_handle);
        NativeException.ThrowIfFailed(subscriber == 0 ? -1 : 0, "new subscriber");
        return new NativeSpotSubscriber(subscriber);
    }

    public void Dispose()
    {
        if (_handle != 0)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_pub_destroy(ref _publisher), "destroy publisher");
            NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_node_destroy(ref _handle), "destroy node");
        }
    }
}

/// <summary>A subscriber of a native node: one thread at a time.</summary>
internal sealed unsafe class NativeSpotSubscriber(nint handle) : IDisposable
{
    private nint _handle = handle;

    public void Subscribe(string topic) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_sub_subscribe(_handle, topic), $"subscribe {topic}");

    /// <summary>A prefix and one '*' at its end.</summary>
    public void SubscribePattern(string pattern) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_sub_subscribe_pattern(_handle, pattern), $"subscribe {pattern}");

    public void Unsubscribe(string topicOrPattern) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_sub_unsubscribe(_handle, topicOrPattern), $"unsubscribe {topicOrPattern}");

    /// <summary>The next message if there is one. The native core has no receive with a timeout: poll this one.</summary>
    public (string Topic, byte[][] Parts)? TryReceive()
    {
        byte* topic = stackalloc byte[256];
        if (NativeFunctions.zlink_spot_sub_recv(
            _handle, out NativeMessageStruct* parts, out nuint count, NativeFlags.DontWait, topic, out nuint length) < 0)
        {
            return NativeFunctions.LastError == NativeErrno.Again ? null : throw new NativeException("receive", NativeFunctions.LastError);
        }

        return (System.Text.Encoding.UTF8.GetString(topic, (int)length), NativeParts.Take(parts, count));
    }

    public void Dispose()
    {
        if (_handle != 0)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_spot_sub_destroy(ref _handle), "destroy subscriber");
        }
    }
}
