using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>One event of a monitored socket.</summary>
internal sealed record NativeMonitorEvent(NativeEventTypes Type, long Value, byte[] RoutingId, string LocalAddress, string RemoteAddress);

/// <summary>
/// The reading end of a socket's monitor. The socket owns it, and ends it after itself: natively a socket whose monitor's reader is gone
/// freezes at its next event.
/// </summary>
internal sealed unsafe class NativeMonitor(nint handle)
{
    private readonly NativeSocket _pair = new(handle);

    /// <summary>The next event, or null after the timeout.</summary>
    public NativeMonitorEvent? Receive(TimeSpan timeout)
    {
        if ((NativePoll.Wait(timeout, (_pair, NativePollEvents.In))[0] & NativePollEvents.In) == NativePollEvents.None)
        {
            return null;
        }

        NativeException.ThrowIfFailed(NativeFunctions.zlink_monitor_recv(
            _pair.Handle, out NativeMonitorEventStruct read, NativeFlags.DontWait), nameof(NativeFunctions.zlink_monitor_recv));
        return new NativeMonitorEvent(
            (NativeEventTypes)read.Event, (long)read.Value, read.RoutingId.ToArray(), Marshal.PtrToStringUTF8((nint)read.LocalAddress)!,
                Marshal.PtrToStringUTF8((nint)read.RemoteAddress)!);
    }

    /// <summary>Reads what a closed socket had still to say, and lets go.</summary>
    public void End()
    {
        while (Receive(Support.Limits.Wait)?.Type is not (null or NativeEventTypes.MonitorStopped))
        {
        }

        _pair.Dispose();
    }
}
