using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Hosting;

internal static class SocketDrain
{
    // The counters announce nothing. A look costs microseconds.
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(10);

    // An application that receives nothing for so long has stopped receiving, or never began.
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(200);

    public static void Named(string part, string act, RedactedEndpoint endpoint, Action action)
    {
        try
        {
            action();
        }
        catch (Exception e) when (e is ZlinkException or ArgumentException)
        {
            throw new ZlinkSettingException($"{part} cannot {act} {endpoint}: {e.Message}", e);
        }
    }

    /// <summary>Accepts no new peers, then waits until the application has received what had come by then. It ends earlier where nobody
    /// receives, and after half of the time that is left.</summary>
    public static async Task RunAsync(ZlinkSocket socket, string part, ILogger logger, DrainClock clock, CancellationToken cancellation)
    {
        StopListening(socket);
        long started = clock.Clock.GetTimestamp();
        SocketFigures first = SocketFigures.Of(socket);
        TimeSpan limit = clock.Half;
        long lastDelivered = first.Delivered;
        long lastProgress = started;
        SocketFigures now = first;
        using var timer = new PeriodicTimer(PollInterval, clock.Clock);
        while (now.Delivered < first.Delivered + first.Unread
            && clock.Clock.GetElapsedTime(lastProgress) < Patience
            && (limit == Timeout.InfiniteTimeSpan || clock.Clock.GetElapsedTime(started) < limit))
        {
            await timer.WaitForNextTickAsync(cancellation).ConfigureAwait(false);
            now = SocketFigures.Of(socket);
            if (now.Delivered != lastDelivered)
            {
                lastDelivered = now.Delivered;
                lastProgress = clock.Clock.GetTimestamp();
            }
        }

        HostingLog.SocketDrained(logger, part, now.ConnectedPeers, now.Delivered - first.Delivered,
            clock.Clock.GetElapsedTime(started).TotalMilliseconds);
    }

    public static void StopListening(ZlinkSocket socket)
    {
        foreach (string endpoint in socket.BoundEndpoints)
        {
            try
            {
                socket.Unbind(endpoint, keepPeers: true);
            }
            catch (ZlinkException e) when (e.Error == ZlinkError.NotFound)
            {
                // The application has ended it meanwhile.
            }
        }
    }

    public static void End(ZlinkSocket socket, string part, ILogger logger)
    {
        try
        {
            if (SocketFigures.Of(socket).Unread is > 0 and var unread)
            {
                HostingLog.Unread(logger, part, unread);
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            // The application has ended it already.
        }

        socket.Dispose();
    }
}
