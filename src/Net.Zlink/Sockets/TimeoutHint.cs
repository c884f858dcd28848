using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets;

internal static class TimeoutHint
{
    /// <summary>Checks one peer at most: some programs poll with short timeouts and thousands of peers.</summary>
    public static string? Find(ZmpEndpoints endpoints)
    {
        SocketCore socket = endpoints.Socket;
        if (socket.GivenUp.All is [.., (RedactedEndpoint endpoint, string why)])
        {
            return $", and {endpoint} was given up: {why}. Fix the cause, then connect again; Describe() shows all of them";
        }

        if (socket is SubscriberCore { IsExtended: false, TopicCount: 0 })
        {
            return ": this SUB has no topic, so it receives nothing; Subscribe(\"\") takes every message";
        }

        if (socket.PeerCount > 1)
        {
            return null;
        }

        return socket.Links switch
        {
            [] when endpoints.All.Length == 0 => ": the socket is neither bound nor connected; call Bind or Connect first",
            [] => WithoutPeer(socket.Table.Dialers),
            [{ WhyNotConnected: { } problem } only] => $": {only.Endpoint} is not connected: {problem}",
            _ => null,
        };
    }

    private static string WithoutPeer(DialerLoop[] tried) =>
        Array.Find(tried, static one => one.Problem is not null) is { } failed
        ? $": {failed.Target.Redacted} is not connected: "
            + $"{failed.Problem}{(tried.Length > 1 ? ". No other peer is connected; Describe() shows all endpoints" : "")}"
        : ": no peer is connected";
}
