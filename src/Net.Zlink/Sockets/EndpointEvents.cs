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
        monitors.Publish(SocketEventTypes.AcceptFailed, EndpointError.ErrnoOf(error), endpoint, "",
            detail: $"{error}; accepting goes on in {backOff.TotalMilliseconds:0} ms");
        Log.AcceptFailed(host.Logger, endpoint, error, backOff.TotalMilliseconds);
    }

    public static void ListenerFailed(SocketMonitors monitors, EngineHost host, long handle, string endpoint, SocketError error)
    {
        monitors.Publish(SocketEventTypes.Closed, handle, endpoint, "", detail: $"the listening socket failed: {error}");
        Log.ListenerClosed(host.Logger, endpoint, error);
    }

    /// <summary>A bind came to nothing. As natively the event names the address without its scheme, and there is none for a text that has
    /// no scheme, or nothing behind it.</summary>
    /// <returns>The error.</returns>
    public static EndpointError BindFailed(SocketMonitors monitors, string text, in EndpointError error)
    {
        if (EndpointText.TryParse(text, out EndpointText parts, out _))
        {
            monitors.Publish(SocketEventTypes.BindFailed, error.Errno, parts.Remainder, "", detail: error.Sentence);
        }

        return error;
    }

    /// <summary>The system is asked to connect: the native core reports every such attempt as delayed, with EINPROGRESS. A name that is not
    /// found is no attempt.</summary>
    public static void Connecting(SocketMonitors monitors, string endpoint)
    {
        const int InProgress = 115;
        monitors.Publish(SocketEventTypes.ConnectDelayed, InProgress, "", endpoint);
    }

    /// <summary>A dialer has failed in a way that it does not know, so no further attempt is made: nobody awaits it, this is all that the
    /// application hears of it.</summary>
    public static void DialerFailed(SocketMonitors monitors, EngineHost host, string endpoint, Exception exception)
    {
        PublishGivenUp(monitors, endpoint, $"an internal fault: {exception.GetType().Name}: {ExceptionText.MessageOf(exception)}");
        Log.GaveUp(host.Logger, endpoint, $"an internal fault, please report it: {ExceptionText.Of(exception)}");
    }

    /// <summary>No further attempt is made.</summary>
    public static void GivenUp(SocketMonitors monitors, EngineHost host, string endpoint, string why)
    {
        PublishGivenUp(monitors, endpoint, why);
        Log.GaveUp(host.Logger, endpoint, why);
    }

    /// <summary>An attempt has failed, and others follow: the log hears of it when the reason is another one than before.</summary>
    /// <param name="host">Whose log.</param>
    /// <param name="endpoint">Where to.</param>
    /// <param name="why">Why.</param>
    /// <param name="logged">What the log has heard of this endpoint last, since it was connected.</param>
    /// <returns>What it has heard now.</returns>
    public static string Failed(EngineHost host, string endpoint, string why, string? logged)
    {
        if (!string.Equals(why, logged, StringComparison.Ordinal))
        {
            Log.CannotConnect(host.Logger, endpoint, why);
        }

        return why;
    }

    /// <summary>A connection that came in has failed in its handshake. One that just went again says nothing of this side: whoever probes a
    /// port does that, and as often as it likes.</summary>
    public static void HandshakeFailed(EngineHost host, string endpoint, string remote, HandshakeFailure cause, string detail)
    {
        if (cause == HandshakeFailure.Lost)
        {
            Log.HandshakeLost(host.Logger, endpoint, remote, detail);
        }
        else
        {
            host.Warnings.HandshakeFailed(endpoint, remote, cause, detail);
        }
    }

    /// <summary>Announces the next attempt, and why the last one failed, and waits for its time.</summary>
    /// <exception cref="OperationCanceledException">The endpoint was closed meanwhile.</exception>
    public static Task PauseAsync(SocketMonitors monitors, EngineHost host, string endpoint, string why, TimeSpan pause,
        CancellationToken closed)
    {
        // Armed before it is announced: who hears of it may move the clock.
        Task delay = Task.Delay(pause, host.Time, closed);
        monitors.Publish(SocketEventTypes.ConnectRetried, (long)pause.TotalMilliseconds, "", endpoint, detail: why);
        return delay;
    }

    private static void PublishGivenUp(SocketMonitors monitors, string endpoint, string why) =>
        monitors.Publish(SocketEventTypes.ConnectGivenUp, 0, "", endpoint, detail: $"{why}; no further attempt is made");
}
