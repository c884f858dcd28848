using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Sides;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>The TCP side of everyone that is played: its listener and its ends of the connections to the implementation.</summary>
internal sealed class PlayedNetwork(Transcript transcript, string implemented, ReplayClock clock) : IDisposable
{
    private readonly SortedDictionary<int, PlayedConnection> _connections = [];
    private readonly HashSet<int> _unrecorded = [];
    private PlayedListener? _listener;
    private int _implementedPort;

    /// <summary>Set on every arrival of bytes, connections and ends.</summary>
    public Signal Changed { get; } = new();

    public IReadOnlyCollection<PlayedConnection> Connections => _connections.Values;

    /// <summary>How many connections the played listener got; null without one.</summary>
    public int? Seen => _listener?.Seen;

    public long ReceivedTotal => _connections.Values.Sum(connection => (long)connection.ReceivedCount + (connection.End is null ? 0 : 1));

    public IEnumerable<int> ListeningPorts => new[] { _implementedPort, _listener?.Port ?? 0 }.Where(port => port > 0);

    /// <summary>True for a connection between the implementation and a played side; what played sides have among themselves does not take
    /// place.</summary>
    public bool IsLive(int connection) => implemented is "b"
        || string.Equals(transcript.ConnectorOf(connection), implemented, StringComparison.Ordinal);

    /// <summary>True for an event of a connection of which nothing was recorded.</summary>
    public bool IsOfUnrecorded(ReceivedEvent received) =>
        _unrecorded.Any(connection => _connections[connection].RemotePort == received.LocalPort);

    public bool IsRecorded(int connection) => !_unrecorded.Contains(connection);

    public PlayedConnection? Find(int connection) => _connections.GetValueOrDefault(connection);

    public PlayedConnection Get(int connection) => Find(connection)
        ?? throw new ReplayFailedException($"connection {connection} is not there");

    /// <summary>The text that the implementation binds: any free port.</summary>
    public static string BindText(Side side) => EndpointOf(side, FreePort.Next());

    public void ImplementationIsAt(string endpoint) => _implementedPort = new Uri(endpoint).Port;

    public void Listen() => _listener = new PlayedListener(Changed);

    public void StopListening() => _listener?.Dispose();

    /// <summary>The text that the implementation connects to.</summary>
    public string ConnectText(Side side)
    {
        PlayedListener listener = _listener ?? throw new ReplayFailedException("the played side does not listen");
        return EndpointOf(side, listener.Port);
    }

    public async Task ConnectAsync(int connection, CancellationToken cancellation)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, _implementedPort), cancellation);
        }
        catch (SocketException fault)
        {
            socket.Dispose();
            throw new ReplayFailedException($"connection {connection} could not be opened: {fault.SocketErrorCode}");
        }

        _connections.Add(connection, new PlayedConnection(connection, socket, Changed, () => clock.Elapsed));
    }

    /// <summary>Takes the next connection that came to the played listener, if one did.</summary>
    public bool TryAccept(int connection, bool unrecorded)
    {
        if (_listener is null || !_listener.TryTake(out Socket? socket))
        {
            return false;
        }

        _connections.Add(connection, new PlayedConnection(connection, socket!, Changed, () => clock.Elapsed));
        if (unrecorded)
        {
            _unrecorded.Add(connection);
        }

        return true;
    }

    public void Drain()
    {
        foreach (PlayedConnection connection in _connections.Values)
        {
            connection.Drain();
        }
    }

    private static string EndpointOf(Side side, int port) => (side.Endpoint ?? $"{side.Transport}://127.0.0.1:PORT")
        .Replace("PORT", port.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal);

    public void Dispose()
    {
        _listener?.Dispose();
        foreach (PlayedConnection connection in _connections.Values)
        {
            connection.Dispose();
        }
    }
}
