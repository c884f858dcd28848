using System.Runtime.InteropServices;

namespace Net.Zlink.Scenarios.Native;

/// <summary>The C functions of registry, discovery, gateway and receiver.</summary>
internal static unsafe partial class NativeZlink
{
    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_registry_new(nint context);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_registry_set_endpoints(nint registry, string publisher, string router);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_registry_start(nint registry);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_registry_destroy(ref nint registry);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_discovery_new_typed(nint context, ushort type);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_discovery_connect_registry(nint discovery, string publisher);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_discovery_destroy(ref nint discovery);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial nint zlink_gateway_new(nint context, nint discovery, string? routingId);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_gateway_send(nint gateway, byte* service, NativeMessage* parts, nuint count, int flags);

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
    public static partial int zlink_receiver_connect_registry(nint receiver, string router);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_receiver_register(nint receiver, string service, string? advertise, uint weight);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_receiver_router(nint receiver);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_receiver_destroy(ref nint receiver);
}
