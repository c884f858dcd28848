using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets;

internal static class TimeoutHint
{
    /// <summary>Checks one peer at most: some programs poll with short timeouts and thousands of peers.</summary>
    public static string? Find(SocketCore socket)
    {
        if (socket.GivenUp.TryGetLast(out RedactedEndpoint endpoint, out string? why))
        {
            return $", and {endpoint} was given up: {why}. Fix the cause, then connect again; Describe() shows all of them";
        }

        if (socket is SubscriberCore { IsExtended: false, TopicCount: 0 })
        {
            return ": this SUB has no topic, so it receives nothing; Subscribe(\"\") takes every message";
        }

        if (socket.LinkCount > 1)
        {
            return null;
        }

        return socket.Links switch
        {
            [] when socket.Endpoints.All.Length == 0 => ": the socket is neither bound nor connected; call Bind or Connect first",
            [] => WithoutPeer(socket.Endpoints.WithoutLink),
            [{ WhyNotConnected: { } problem } only] => $": {only.Endpoint} is not connected: {problem}",
            _ => null,
        };
    }

    private static string WithoutPeer(ZmpConnecter[] tried) =>
        Array.Find(tried, static one => one.Dialer.Problem is not null)?.Dialer is { } failed
        ? $": {failed.Target.Redacted} is not connected: "
            + $"{failed.Problem}{(tried.Length > 1 ? ". No other peer is connected; Describe() shows all endpoints" : "")}"
        : ": no peer is connected";
}
