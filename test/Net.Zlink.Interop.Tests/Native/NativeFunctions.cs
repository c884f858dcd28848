using System.Reflection;
using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>The native core's C functions that these tests and bench/ call. The runtime keeps each call's errno (SetLastError): between two
/// calls it makes system calls of its own.</summary>
internal static unsafe partial class NativeFunctions
{
    private const string Library = "zlink";

    static NativeFunctions() => NativeLibrary.SetDllImportResolver(typeof(NativeFunctions).Assembly, Resolve);

    /// <summary>The error number of this thread's last call.</summary>
    // Windows has no errno that the runtime could keep: there the library is asked.
    public static int LastError => OperatingSystem.IsWindows() ? zlink_errno() : Marshal.GetLastPInvokeError();

    [LibraryImport(Library)]
    private static partial int zlink_errno();

    [LibraryImport(Library)]
    public static partial byte* zlink_strerror(int error);

    [LibraryImport(Library)]
    public static partial void zlink_version(out int major, out int minor, out int patch);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_ctx_new();

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_ctx_set(nint context, int option, int value);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_ctx_term(nint context);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_ctx_shutdown(nint context);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_socket(nint context, NativeSocketType type);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_close(nint socket);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_setsockopt(nint socket, int option, byte* value, nuint length);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_getsockopt(nint socket, int option, byte* value, ref nuint length);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_bind(nint socket, string endpoint);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_connect(nint socket, string endpoint);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_unbind(nint socket, string endpoint);

    [LibraryImport(Library, SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int zlink_disconnect(nint socket, string endpoint);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_send(nint socket, byte* data, nuint length, NativeFlags flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_recv(nint socket, byte* data, nuint length, NativeFlags flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_init(ref NativeMessageStruct message);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_init_size(ref NativeMessageStruct message, nuint size);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_send(ref NativeMessageStruct message, nint socket, NativeFlags flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_recv(ref NativeMessageStruct message, nint socket, NativeFlags flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_close(ref NativeMessageStruct message);

    [LibraryImport(Library)]
    public static partial byte* zlink_msg_data(ref NativeMessageStruct message);

    [LibraryImport(Library)]
    public static partial nuint zlink_msg_size(ref NativeMessageStruct message);

    [LibraryImport(Library)]
    public static partial int zlink_msg_more(ref NativeMessageStruct message);

    [LibraryImport(Library, StringMarshalling = StringMarshalling.Utf8)]
    public static partial byte* zlink_msg_gets(ref NativeMessageStruct message, string property);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_poll(NativePollItemStruct* items, int count, CLong timeout);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_socket_monitor_open(nint socket, NativeEventTypes events);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_monitor_recv(nint monitor, out NativeMonitorEventStruct monitorEvent, NativeFlags flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_socket_peer_count(nint socket);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_socket_peers(nint socket, NativePeerInfoStruct* peers, ref nuint count);

    private static nint Resolve(string name, Assembly assembly, DllImportSearchPath? searchPath) =>
        string.Equals(name, Library, StringComparison.Ordinal)
            ? NativeLibrary.Load(NativeLibraryFile.Path ?? throw new InvalidOperationException(NativeLibraryFile.HowToTurnOn))
            : 0;
}

/// <summary>Flags of send and receive calls.</summary>
[Flags]
internal enum NativeFlags
{
    None = 0,
    DontWait = 1,
    SendMore = 2,
}
