using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Endpoints;

internal static class EndpointEvents
{
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

    public static void GivenUp(SocketMonitors monitors, EngineHost host, RedactedEndpoint endpoint, RoutingId name, string why)
    {
        Publish(monitors, SocketEventTypes.ConnectGivenUp, 0, endpoint, name, $"{why}; no further attempt is made");
        Log.GaveUp(host.Logger, endpoint, why);
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

    private static void Publish(
        SocketMonitors monitors, SocketEventTypes type, long value, RedactedEndpoint endpoint, RoutingId name, string detail)
    {
        if (!monitors.IsEmpty)
        {
            monitors.Publish(new SocketEvent(type, value, default, "", endpoint, 0, detail) { PeerRoutingId = name });
        }
    }
}
