using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Hosting;

internal static class SocketDrain
{
    // The counters announce nothing. A look costs microseconds.
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(10);

    // An application that has never received anything has so long to begin.
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

    /// <summary>Accepts no new peers, then waits until the application has received what had come by then, for half of the time that is
    /// left. How long a worker needs for one message is not known: only a socket that nobody ever received from is given up
    /// earlier.</summary>
    public static async Task RunAsync(ZlinkSocket socket, string part, ILogger logger, DrainClock clock, CancellationToken cancellation)
    {
        StopListening(socket);
        long started = clock.Clock.GetTimestamp();
        SocketFigures first = SocketFigures.Of(socket);
        TimeSpan limit = clock.Half;
        SocketFigures now = first;
        if (first.Unread > 0)
        {
            HostingLog.SocketDrains(logger, part, first.Unread, limit);
        }

        using var timer = new PeriodicTimer(PollInterval, clock.Clock);
        while (now.Delivered < first.Delivered + first.Unread
            && (now.Delivered > 0 || clock.Clock.GetElapsedTime(started) < Patience)
            && (limit == Timeout.InfiniteTimeSpan || clock.Clock.GetElapsedTime(started) < limit))
        {
            await timer.WaitForNextTickAsync(cancellation).ConfigureAwait(false);
            now = SocketFigures.Of(socket);
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
