using System.Runtime.InteropServices;

namespace Net.Zlink.Scenarios.Native;

/// <summary>The C functions of SPOT.</summary>
internal static unsafe partial class NativeZlink
{
    [LibraryImport(Library, SetLastError = true)]
    public static partial void zlink_msgv_close(NativeMessage* parts, nuint count);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_spot_node_new(nint context);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_node_destroy(ref nint node);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_bind(nint node, string endpoint);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_connect_peer_pub(nint node, string publisher);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_set_tls_server(nint node, string certificateFile, string keyFile);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_node_set_tls_client(nint node, string caFile, string hostName, int trustSystem);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_spot_pub_new(nint node);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_pub_destroy(ref nint publisher);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_pub_publish(nint publisher, byte* topic, NativeMessage* parts, nuint count, int flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_spot_sub_new(nint node);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_sub_destroy(ref nint subscriber);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_spot_sub_subscribe(nint subscriber, string topic);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_spot_sub_recv(
        nint subscriber, out NativeMessage* parts, out nuint count, int flags, byte* topic, out nuint topicLength);
}
