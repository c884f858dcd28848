using System.Reflection;
using System.Runtime.InteropServices;

namespace Net.Zlink.Scenarios.Native;

/// <summary>The native core's C functions, to measure it beside ours. Names and numbers are those of its header. Needs
/// <see cref="Variable"/>.</summary>
/// <remarks>The runtime keeps each call's errno (SetLastError): between two calls it makes system calls of its own.</remarks>
internal static unsafe partial class NativeZlink
{
    /// <summary>The environment variable with the path of the library.</summary>
    public const string Variable = "ZLINK_NATIVE_LIBRARY";

    /// <summary>What a skipped stack says.</summary>
    public const string HowToTurnOn =
        $"NOT MEASURED: set {Variable} to the path of a native libzlink (libzlink.so, libzlink.dylib, zlink.dll)";

    private const string Library = "zlink";

    static NativeZlink() => NativeLibrary.SetDllImportResolver(typeof(NativeZlink).Assembly, Resolve);

    /// <summary>The library's path as given, or null.</summary>
    public static string? LibraryPath => Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } path ? path : null;

    /// <summary>The error number of this thread's last call.</summary>
    public static int LastError => OperatingSystem.IsWindows() ? zlink_errno() : Marshal.GetLastPInvokeError();

    /// <summary>Null if the library can be loaded, else why not.</summary>
    public static string? WhyNot()
    {
        if (LibraryPath is not string path)
        {
            return HowToTurnOn;
        }

        if (!NativeLibrary.TryLoad(path, out nint handle))
        {
            return $"NOT MEASURED: {Variable} names a file that cannot be loaded";
        }

        bool isZlink = NativeLibrary.TryGetExport(handle, nameof(zlink_version), out _);
        NativeLibrary.Free(handle);
        return isZlink ? null : $"NOT MEASURED: {Variable} names a library that is not zlink: it has no {nameof(zlink_version)}";
    }

    public static Version LibraryVersion()
    {
        zlink_version(out int major, out int minor, out int patch);
        return new Version(major, minor, patch);
    }

    [LibraryImport(Library)]
    private static partial int zlink_errno();

    [LibraryImport(Library)]
    public static partial byte* zlink_strerror(int error);

    [LibraryImport(Library)]
    private static partial void zlink_version(out int major, out int minor, out int patch);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_ctx_new();

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_ctx_set(nint context, int option, int value);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_ctx_term(nint context);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_ctx_shutdown(nint context);

    [LibraryImport(Library, SetLastError = true)]
    public static partial nint zlink_socket(nint context, int type);

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

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_send(nint socket, byte* data, nuint length, int flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_recv(nint socket, byte* data, nuint length, int flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_init(ref NativeMessage message);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_init_size(ref NativeMessage message, nuint size);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_send(ref NativeMessage message, nint socket, int flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_recv(ref NativeMessage message, nint socket, int flags);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_msg_close(ref NativeMessage message);

    [LibraryImport(Library)]
    public static partial byte* zlink_msg_data(ref NativeMessage message);

    [LibraryImport(Library)]
    public static partial nuint zlink_msg_size(ref NativeMessage message);

    [LibraryImport(Library)]
    public static partial int zlink_msg_more(ref NativeMessage message);

    [LibraryImport(Library, SetLastError = true)]
    public static partial int zlink_poll(NativePollItem* items, int count, CLong timeout);

    private static nint Resolve(string name, Assembly assembly, DllImportSearchPath? searchPath) =>
        string.Equals(name, Library, StringComparison.Ordinal)
            ? NativeLibrary.Load(LibraryPath ?? throw new InvalidOperationException(HowToTurnOn)) : 0;
}
