using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>Waits for readiness of native sockets.</summary>
internal static unsafe class NativePoll
{
    /// <summary>What each socket is ready for, in order; all none after the timeout.</summary>
    public static NativePollEvents[] Wait(TimeSpan timeout, params ReadOnlySpan<(NativeSocket Socket, NativePollEvents Events)> waits)
    {
        if (OperatingSystem.IsWindows())
        {
            // See NativePollItemStruct.
            throw new PlatformNotSupportedException("The layout of a poll item is the one of POSIX systems.");
        }

        var items = new NativePollItemStruct[waits.Length];
        for (int i = 0; i < items.Length; i++)
        {
            items[i] = new NativePollItemStruct { Socket = waits[i].Socket.Handle, Events = waits[i].Events };
        }

        long start = Stopwatch.GetTimestamp();
        int result;
        fixed (NativePollItemStruct* pointer = items)
        {
            do
            {
                // A signal of the runtime may end the call early.
                TimeSpan left = timeout - Stopwatch.GetElapsedTime(start);
                result = NativeFunctions.zlink_poll(pointer, items.Length, new CLong(NativeTime.Milliseconds(left)));
            }
            while (result < 0 && NativeFunctions.LastError == NativeErrno.Interrupted);
        }

        NativeException.ThrowIfFailed(result, nameof(NativeFunctions.zlink_poll));
        return Array.ConvertAll(items, static item => item.Returned);
    }
}

/// <summary>Times as the native core takes them.</summary>
internal static class NativeTime
{
    /// <summary>Whole milliseconds, rounded up, so that waiting for the rest of a limit never spins; 0 for what is past.</summary>
    public static int Milliseconds(TimeSpan time) => time <= TimeSpan.Zero ? 0
        : (int)Math.Min(Math.Ceiling(time.TotalMilliseconds), int.MaxValue);
}
