using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Sides;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>Everyone that is played: its listener and its ends of the connections to the implementation.</summary>
internal abstract class PlayedNetwork(Transcript transcript, string implemented) : IDisposable
{
    private readonly SortedDictionary<int, PlayedConnection> _connections = [];
    private readonly HashSet<int> _unrecorded = [];

    /// <summary>Set on every arrival of bytes, connections and ends.</summary>
    public Signal Changed { get; } = new();

    public IReadOnlyCollection<PlayedConnection> Connections => _connections.Values;

    /// <summary>How many connections the played listener got; null without one.</summary>
    public abstract int? Seen { get; }

    public long ReceivedTotal => _connections.Values.Sum(connection => (long)connection.ReceivedCount + (connection.End is null ? 0 : 1));

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

    /// <summary>The text that the implementation binds.</summary>
    public abstract string BindText(Side side);

    public abstract void ImplementationIsAt(string endpoint);

    public abstract void Listen();

    public abstract void StopListening();

    /// <summary>The text that the implementation connects to.</summary>
    public abstract string ConnectText(Side side);

    public async Task ConnectAsync(int connection, CancellationToken cancellation) =>
        _connections.Add(connection, await OpenAsync(connection, cancellation));

    /// <summary>Takes the next connection that came to the played listener, if one did.</summary>
    public bool TryAccept(int connection, bool unrecorded)
    {
        if (Take(connection) is not { } taken)
        {
            return false;
        }

        _connections.Add(connection, taken);
        if (unrecorded)
        {
            _unrecorded.Add(connection);
        }

        return true;
    }

    public virtual void Drain()
    {
        foreach (PlayedConnection connection in _connections.Values)
        {
            connection.Drain();
        }
    }

    public virtual void Dispose()
    {
        foreach (PlayedConnection connection in _connections.Values)
        {
            connection.Dispose();
        }
    }

    protected abstract Task<PlayedConnection> OpenAsync(int connection, CancellationToken cancellation);

    /// <summary>The next one that came to the listener; null if there is none.</summary>
    protected abstract PlayedConnection? Take(int connection);
}
