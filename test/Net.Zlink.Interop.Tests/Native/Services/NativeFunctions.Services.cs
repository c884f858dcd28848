using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>The C functions of registry, discovery, gateway and receiver.</summary>
internal static unsafe partial class NativeFunctions
{
    [LibraryImport(Library, SetLastError = true)]
    public static partial void zlink_msgv_close(NativeMessageStruct* parts, nuint count);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_registry_new(nint context);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_registry_set_endpoints(nint registry, string publisher, string router);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_registry_set_id(nint registry, uint id);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_registry_add_peer(nint registry, string publisher);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_registry_set_heartbeat(nint registry, uint interval, uint timeout);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_registry_set_broadcast_interval(nint registry, uint interval);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_registry_setsockopt(nint registry, int role, int option, byte* value, nuint length);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_registry_start(nint registry);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_registry_destroy(ref nint registry);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_discovery_new_typed(nint context, ushort type);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_discovery_connect_registry(nint discovery, string publisher);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_discovery_get_receivers(
        nint discovery, string service, NativeReceiverStruct* receivers, ref nuint count);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_discovery_setsockopt(nint discovery, int role, int option, byte* value, nuint length);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_discovery_destroy(ref nint discovery);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial nint zlink_gateway_new(nint context, nint discovery, string? routingId);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_gateway_send(nint gateway, string service, NativeMessageStruct* parts, nuint count, NativeFlags flags);

    /// <summary>For measurements: the name is not encoded once more with each message.</summary>
    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_gateway_send(nint gateway, byte* service, NativeMessageStruct* parts, nuint count, NativeFlags flags);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_gateway_send_rid(
        nint gateway, string service, NativeRoutingIdStruct* routingId, NativeMessageStruct* parts, nuint count, NativeFlags flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_gateway_recv(
        nint gateway, out NativeMessageStruct* parts, out nuint count, NativeFlags flags, byte* service);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_gateway_set_lb_strategy(nint gateway, string service, int strategy);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_gateway_setsockopt(nint gateway, int option, byte* value, nuint length);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_gateway_set_tls_client(nint gateway, string caFile, string hostName, int trustSystem);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_gateway_router(nint gateway);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_gateway_connection_count(nint gateway, string service);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_gateway_destroy(ref nint gateway);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial nint zlink_receiver_new(nint context, string? routingId);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_receiver_bind(nint receiver, string endpoint);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_receiver_connect_registry(nint receiver, string router);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_receiver_register(nint receiver, string service, string? advertise, uint weight);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_receiver_update_weight(nint receiver, string service, uint weight);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_receiver_unregister(nint receiver, string service);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_receiver_set_tls_server(nint receiver, string certificateFile, string keyFile);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_receiver_setsockopt(nint receiver, int role, int option, byte* value, nuint length);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_receiver_router(nint receiver);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_receiver_destroy(ref nint receiver);
}
