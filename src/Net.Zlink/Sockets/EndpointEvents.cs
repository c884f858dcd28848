using System.Net.Sockets;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets;

/// <summary>What listeners and dialers tell monitors and the log, whatever kind of socket they serve.</summary>
internal static class EndpointEvents
{
    public static void AcceptFailed(SocketMonitors monitors, EngineHost host, string endpoint, SocketError error, TimeSpan backOff)
    {
        monitors.Publish(SocketEventTypes.AcceptFailed, EndpointError.ErrnoOf(error), endpoint, "", detail: $"{error}; accepting goes on in {backOff.TotalMilliseconds:0} ms");
        Log.AcceptFailed(host.Logger, endpoint, error, backOff.TotalMilliseconds);
    }

    public static void ListenerFailed(SocketMonitors monitors, EngineHost host, long handle, string endpoint, SocketError error)
    {
        monitors.Publish(SocketEventTypes.Closed, handle, endpoint, "", detail: $"the listening socket failed: {error}");
        Log.ListenerClosed(host.Logger, endpoint, error);
    }

    /// <summary>The system is asked to connect: the native core reports every such attempt as delayed, with EINPROGRESS. A name that is not found is no attempt.</summary>
    public static void Connecting(SocketMonitors monitors, string endpoint)
    {
        const int InProgress = 115;
        monitors.Publish(SocketEventTypes.ConnectDelayed, InProgress, "", endpoint);
    }

    /// <summary>A dialer has failed in a way that it does not know, so no further attempt is made: nobody awaits it, this is all that the application hears of it.</summary>
    public static void DialerFailed(SocketMonitors monitors, EngineHost host, string endpoint, Exception exception)
    {
        monitors.Publish(SocketEventTypes.Closed, 0, "", endpoint, detail: $"gave up connecting for an internal fault: {exception.GetType().Name}: {exception.Message}");
        Log.GaveUp(host.Logger, endpoint, $"an internal fault, please report it: {exception}");
    }

    /// <summary>Announces the next attempt and waits for its time.</summary>
    /// <exception cref="OperationCanceledException">The endpoint was closed meanwhile.</exception>
    public static Task PauseAsync(SocketMonitors monitors, EngineHost host, string endpoint, TimeSpan pause, CancellationToken closed)
    {
        // Armed before it is announced: who hears of it may move the clock.
        Task delay = Task.Delay(pause, host.Time, closed);
        monitors.Publish(SocketEventTypes.ConnectRetried, (long)pause.TotalMilliseconds, "", endpoint);
        return delay;
    }
}
