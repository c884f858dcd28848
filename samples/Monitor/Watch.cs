using System.Globalization;
using System.Text;
using Net.Zlink;
using Net.Zlink.Monitoring;

namespace Samples.Monitor;

/// <summary>A ROUTER that is watched while clients come, send a few messages each, and go.</summary>
internal sealed class Watch(int clients, string endpoint, TextWriter output)
{
    private const int MessagesEach = 5;

    private readonly Lock _gate = new();
    private readonly Dictionary<SocketEventTypes, int> _counts = [];
    private readonly TaskCompletionSource _stopped = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Runs the demo; returns what went wrong, or null.</summary>
    public async Task<string?> RunAsync(CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        using RouterSocket server = context.CreateRouter();

        // Called on the thread pool, one event at a time.
        using IDisposable watching = server.OnEvent(SocketEventTypes.All, Show);
        string where = server.Bind(endpoint);
        DealerSocket[] sockets = [.. Enumerable.Range(1, clients).Select(number => Client(context, where, number))];
        for (int i = 0; i < clients * MessagesEach; i++)
        {
            using Message message = await server.ReceiveAsync(cancellation).ConfigureAwait(false);
        }

        ShowPeers(server.GetPeers());
        bool allTalked = server.GetPeers().Count(static p => p.MessagesReceived == MessagesEach) == clients;
        foreach (DealerSocket socket in sockets)
        {
            socket.Dispose();
        }

        while (server.PeerCount > 0)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(1), cancellation).ConfigureAwait(false);
        }

        output.Write(server.Describe());
        server.Dispose();
        await _stopped.Task.WaitAsync(cancellation).ConfigureAwait(false);
        return !allTalked ? "the table of peers does not show every client's messages" : MissingEvent();
    }

    private static DealerSocket Client(ZlinkContext context, string where, int number)
    {
        string name = string.Create(CultureInfo.InvariantCulture, $"client-{number}");
        DealerSocket socket = context.CreateDealer(new DealerOptions { RoutingId = Encoding.UTF8.GetBytes(name) });
        socket.Connect(where);
        for (int i = 0; i < MessagesEach; i++)
        {
            socket.Send(Encoding.UTF8.GetBytes(name));
        }

        return socket;
    }

    private void Show(SocketEvent one)
    {
        lock (_gate)
        {
            _counts[one.Type] = _counts.GetValueOrDefault(one.Type) + 1;
        }

        string peer = Encoding.UTF8.GetString(one.PeerRoutingId.Span);
        output.WriteLine(FormattableString.Invariant(
            $"{one.Type,-16} {one.Value,5}  {one.LocalAddress}  {one.RemoteAddress}  {peer}  {one.Detail}"));
        if (one.Type == SocketEventTypes.MonitorStopped)
        {
            _stopped.TrySetResult();
        }
    }

    private void ShowPeers(IReadOnlyList<PeerInfo> peers)
    {
        output.WriteLine($"{"peer",-12} {"address",-28} {"received",8} {"to send",8} {"unread",8}");
        foreach (PeerInfo peer in peers)
        {
            output.Write(FormattableString.Invariant($"{Encoding.UTF8.GetString(peer.RoutingId.Span),-12} {peer.RemoteAddress,-28} "));
            output.WriteLine(FormattableString.Invariant(
                $"{peer.MessagesReceived,8:N0} {peer.Outbound.Messages,8:N0} {peer.Unread.Messages,8:N0}"));
        }
    }

    private string? MissingEvent()
    {
        // inproc has no connections, and so none of these events.
        bool isInproc = endpoint.StartsWith("inproc:", StringComparison.Ordinal);
        (SocketEventTypes Type, int Count)[] expected =
            isInproc ? [] : [(SocketEventTypes.Listening, 1), (SocketEventTypes.Accepted, clients),
                (SocketEventTypes.ConnectionReady, clients), (SocketEventTypes.Disconnected, clients), (SocketEventTypes.Closed, 1)];
        lock (_gate)
        {
            foreach ((SocketEventTypes type, int count) in expected)
            {
                if (_counts.GetValueOrDefault(type) != count)
                {
                    return string.Create(CultureInfo.InvariantCulture, $"{_counts.GetValueOrDefault(type)} events {type}, and not {count}");
                }
            }
        }

        return null;
    }
}
