using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>The C functions of SPOT.</summary>
internal static unsafe partial class NativeFunctions
{
    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_spot_node_new(nint context);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_node_destroy(ref nint node);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_bind(nint node, string endpoint);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_connect_registry(nint node, string router);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_connect_peer_pub(nint node, string publisher);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_disconnect_peer_pub(nint node, string publisher);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_register(nint node, string? service, string? advertise);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_unregister(nint node, string? service);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_set_discovery(nint node, nint discovery, string? service);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_set_tls_server(nint node, string certificateFile, string keyFile);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_set_tls_client(nint node, string caFile, string hostName, int trustSystem);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_node_setsockopt(nint node, int role, int option, byte* value, nuint length);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_spot_pub_new(nint node);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_pub_destroy(ref nint publisher);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_pub_publish(
        nint publisher, string topic, NativeMessageStruct* parts, nuint count, NativeFlags flags);

    /// <summary>For measurements: the topic is not encoded once more with each message.</summary>
    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_pub_publish(
        nint publisher, byte* topic, NativeMessageStruct* parts, nuint count, NativeFlags flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_spot_sub_new(nint node);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_sub_destroy(ref nint subscriber);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_sub_subscribe(nint subscriber, string topic);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_sub_subscribe_pattern(nint subscriber, string pattern);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_sub_unsubscribe(nint subscriber, string topicOrPattern);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_sub_recv(
        nint subscriber, out NativeMessageStruct* parts, out nuint count, NativeFlags flags, byte* topic, out nuint topicLength);
}
