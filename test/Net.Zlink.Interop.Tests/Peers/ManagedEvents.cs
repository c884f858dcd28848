using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>Reads our monitors as native ones are read.</summary>
internal static class ManagedEvents
{
    /// <summary>The next event, or null after the timeout.</summary>
    [SuppressMessage("Reliability", "CA2012", Justification = "Turned into a task before anything waits for it.")]
    public static PeerEvent? Next(EventReader monitor, TimeSpan timeout)
    {
        if (!monitor.TryRead(out SocketEvent read))
        {
            if (timeout <= TimeSpan.Zero)
            {
                return null;
            }

            using var limit = new CancellationTokenSource(timeout);
            try
            {
                read = monitor.ReadAsync(limit.Token).AsTask().GetAwaiter().GetResult();
            }
            catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
            {
                return null;
            }
        }

        return IsOurs(read) ? Next(monitor, timeout)
            : new PeerEvent((NativeEventTypes)(int)read.Type, read.ToNativeValue(), read.RoutingId.ToArray(), read.LocalAddress,
                read.RemoteAddress);
    }

    /// <summary>Natively peers over inproc have no events.</summary>
    private static bool IsOurs(in SocketEvent read) => read.Type is SocketEventTypes.ConnectionReady or SocketEventTypes.Disconnected
        && (read.LocalAddress + read.RemoteAddress).StartsWith("inproc:", StringComparison.Ordinal);
}
