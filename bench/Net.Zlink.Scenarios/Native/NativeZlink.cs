using System.Runtime.InteropServices;
using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Scenarios.Native;

/// <summary>The native core, to measure it beside ours; its functions are declared with the interop tests. Needs
/// <see cref="Variable"/>.</summary>
internal static class NativeZlink
{
    /// <summary>The environment variable with the path of the library.</summary>
    public const string Variable = NativeLibraryFile.Variable;

    /// <summary>Null if the library can be loaded, else why not.</summary>
    public static string? WhyNot()
    {
        if (NativeLibraryFile.Path is not string path)
        {
            return $"NOT MEASURED: set {Variable} to the path of a native libzlink (libzlink.so, libzlink.dylib, zlink.dll)";
        }

        if (!NativeLibrary.TryLoad(path, out nint handle))
        {
            return $"NOT MEASURED: {Variable} names a file that cannot be loaded";
        }

        bool isZlink = NativeLibrary.TryGetExport(handle, nameof(NativeFunctions.zlink_version), out _);
        NativeLibrary.Free(handle);
        return isZlink ? null
            : $"NOT MEASURED: {Variable} names a library that is not zlink: it has no {nameof(NativeFunctions.zlink_version)}";
    }

    public static Version LibraryVersion()
    {
        NativeFunctions.zlink_version(out int major, out int minor, out int patch);
        return new Version(major, minor, patch);
    }
}
