using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Replay.Driving;

/// <summary>Wires in memory, without kernel and threads.</summary>
internal sealed class MemoryNetwork(Transcript transcript, string implemented, ReplayClock clock) : PlayedNetwork(transcript, implemented)
{
    private readonly string _endpoint = MemoryTransport.NewEndpoint();
    private MemoryTransport.MemoryListener? _listener;
    private int _seen;

    public override int? Seen => _listener?.Dials;

    public override string BindText(Side side) => _endpoint;

    public override void ImplementationIsAt(string endpoint)
    {
        // It has none but that of the text.
    }

    public override void Listen() => _listener = MemoryTransport.Listen(_endpoint);

    public override void StopListening() => _listener?.Dispose();

    public override string ConnectText(Side side) => _endpoint;

    public override void Drain()
    {
        base.Drain();
        if (_seen < _listener?.Dials)
        {
            _seen++;
            Changed.Set();
        }
    }

    public override void Dispose()
    {
        _listener?.Dispose();
        while (_listener is not null && _listener.TryTake(out MemoryPeer? left))
        {
            left.Reset();
        }

        base.Dispose();
    }

    protected override Task<PlayedConnection> OpenAsync(int connection, CancellationToken cancellation) =>
        Task.FromResult<PlayedConnection>(Of(connection, MemoryTransport.Connect(_endpoint)));

    protected override PlayedConnection? Take(int connection) =>
        _listener is not null && _listener.TryTake(out MemoryPeer? peer) ? Of(connection, peer) : null;

    private MemoryConnection Of(int connection, MemoryPeer peer) => new(connection, peer, Changed, () => clock.Elapsed);
}
