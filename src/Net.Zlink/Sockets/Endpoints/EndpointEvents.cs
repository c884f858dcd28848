using System.Net.Sockets;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Endpoints;

internal static class EndpointEvents
{
    public static void AcceptFailed(
        SocketMonitors monitors, EngineHost host, RedactedEndpoint endpoint, SocketError error, TimeSpan backOff)
    {
        monitors.Publish(SocketEventTypes.AcceptFailed, EndpointError.ErrnoOf(error), endpoint, "",
            detail: $"{error}; accepting resumes in {backOff.TotalMilliseconds:0} ms");
        host.Warnings.AcceptFailed(endpoint, error, backOff);
    }

    public static void ListenerFailed(SocketMonitors monitors, EngineHost host, long handle, RedactedEndpoint endpoint, SocketError error)
    {
        monitors.Publish(SocketEventTypes.Closed, handle, endpoint, "", detail: $"the listening socket failed: {error}");
        Log.ListenerClosed(host.Logger, endpoint, error);
    }

    /// <summary>
    /// As in the native core the event names the address without its scheme, and a text without a scheme or an address raises none.
    /// </summary>
    public static EndpointError BindFailed(SocketMonitors monitors, string text, in EndpointError error)
    {
        if (TransportTable.TrySplit(text, out _, out _))
        {
            monitors.Publish(
                SocketEventTypes.BindFailed, error.Errno, new RedactedEndpoint(text).WithoutScheme, "", detail: error.Sentence);
        }

        return error;
    }

    /// <summary>As in the native core each attempt is reported as delayed; a failed name lookup is no attempt.</summary>
    public static void Connecting(SocketMonitors monitors, RedactedEndpoint endpoint) =>
        monitors.Publish(SocketEventTypes.ConnectDelayed, 0, "", endpoint);

    /// <summary>Nothing awaits a dialer, so this is its only report.</summary>
    public static void DialerFailed(
        SocketMonitors monitors, EngineHost host, RedactedEndpoint endpoint, Exception exception, RoutingId name)
    {
        PublishGivenUp(monitors, endpoint, name, $"an internal fault: {exception.GetType().Name}: {ExceptionText.MessageOf(exception)}");
        Log.GaveUp(host.Logger, endpoint, $"an internal fault, please report it: {ExceptionText.Of(exception)}");
    }

    public static void GivenUp(SocketMonitors monitors, EngineHost host, RedactedEndpoint endpoint, RoutingId name, string why)
    {
        PublishGivenUp(monitors, endpoint, name, why);
        Log.GaveUp(host.Logger, endpoint, why);
    }

    public static string Failed(EngineHost host, RedactedEndpoint endpoint, string why, string? logged, bool isReported = false)
    {
        if (isReported)
        {
            Log.AttemptFailed(host.Logger, endpoint, why); // The application sees the event, and may dial thousands.
        }
        else if (!string.Equals(why, logged, StringComparison.Ordinal))
        {
            Log.CannotConnect(host.Logger, endpoint, why);
        }

        return why;
    }

    /// <summary>A connection that only ends is not logged: port scanners do that often.</summary>
    public static void HandshakeFailed(
        EngineHost host, RedactedEndpoint endpoint, RedactedEndpoint remote, HandshakeFailure cause, string detail)
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

    public static void Retried(SocketMonitors monitors, RedactedEndpoint endpoint, string why, TimeSpan pause, RoutingId name) =>
        Publish(monitors, SocketEventTypes.ConnectRetried, (long)pause.TotalMilliseconds, endpoint, name, why);

    private static void PublishGivenUp(SocketMonitors monitors, RedactedEndpoint endpoint, RoutingId name, string why) =>
        Publish(monitors, SocketEventTypes.ConnectGivenUp, 0, endpoint, name, $"{why}; no further attempt is made");

    private static void Publish(
        SocketMonitors monitors, SocketEventTypes type, long value, RedactedEndpoint endpoint, RoutingId name, string detail)
    {
        if (!monitors.IsEmpty)
        {
            monitors.Publish(new SocketEvent(type, value, default, "", endpoint, 0, detail) { PeerRoutingId = name });
        }
    }
}
