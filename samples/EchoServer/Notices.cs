using System.Diagnostics;
using Net.Zlink;
using Net.Zlink.Monitoring;

namespace EchoServer;

/// <summary>
/// Tells the operator, on standard error, what the numbers cannot: a refused connection, a failing accept, handshake or handler.
/// Each kind at most once a second, so that a flood of refusals does not become a flood of lines.
/// </summary>
internal sealed class Notices
{
    private const SocketEventTypes Wanted =
        SocketEventTypes.ConnectionRefused | SocketEventTypes.AcceptFailed | SocketEventTypes.HandlerFailed
            | SocketEventTypes.HandshakeFailedNoDetail;

    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(1);

    private readonly Dictionary<SocketEventTypes, long> _lastShown = [];
    private readonly IAsyncEnumerable<SocketEvent> _events;
    private readonly string _hint;
    private readonly Screen _screen;

    public Notices(StreamSocket stream, Options options, Screen screen)
    {
        _hint = options.MaxConnections > 0 ? " (--max-connections)" : "";
        _screen = screen;
        _events = stream.MonitorAsync(Wanted);
    }

    /// <summary>Runs until the socket is closed.</summary>
    public async Task RunAsync()
    {
        await foreach (SocketEvent happened in _events)
        {
            long now = Stopwatch.GetTimestamp();
            if (_lastShown.TryGetValue(happened.Type, out long last) && Stopwatch.GetElapsedTime(last, now) < Quiet)
            {
                continue;
            }

            _lastShown[happened.Type] = now;
            _screen.WriteNotice($"EchoServer: {Describe(happened)}");
        }
    }

    private string Describe(in SocketEvent happened) => happened.Type switch
    {
        SocketEventTypes.ConnectionRefused =>
            $"refused a connection from {happened.RemoteAddress}: {happened.Detail}{_hint}.",
        SocketEventTypes.AcceptFailed =>
            $"cannot accept on {happened.LocalAddress} ({happened.Detail}). If descriptors ran out, raise their limit (ulimit -n).",
        SocketEventTypes.HandshakeFailedNoDetail => $"no handshake with {happened.RemoteAddress}: {happened.Detail}.",
        SocketEventTypes.EventsDropped => $"{happened.Value} notices came too fast and were dropped.",
        _ => $"the handler failed, peer {happened.PeerId} is disconnected: {FirstLine(happened.Detail)}",
    };

    private static string FirstLine(string? text) => text?.Split('\n')[0].TrimEnd() ?? "";
}
