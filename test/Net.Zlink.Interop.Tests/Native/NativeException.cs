using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>A native call failed.</summary>
internal sealed class NativeException(string call, int error) : Exception($"{call} failed with {error}: {Text(error)}")
{
    /// <summary>The library's error number, see <see cref="NativeErrno"/>.</summary>
    public int Error { get; } = error;

    /// <summary>Throws where the result says that the call failed.</summary>
    public static void ThrowIfFailed(int result, string call)
    {
        if (result < 0)
        {
            throw new NativeException(call, NativeFunctions.LastError);
        }
    }

    private static unsafe string Text(int error) => Marshal.PtrToStringUTF8((nint)NativeFunctions.zlink_strerror(error)) ?? "";
}
