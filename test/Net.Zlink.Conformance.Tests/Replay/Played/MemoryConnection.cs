using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Replay.Played;

/// <summary>Over a wire in memory. What is sent has arrived when the call returns.</summary>
internal sealed class MemoryConnection : PlayedConnection
{
    private readonly MemoryPeer _peer;

    public MemoryConnection(int number, MemoryPeer peer, Signal changed, Func<long> clock)
        : base(number, changed, clock)
    {
        _peer = peer;
        peer.AnswersEnd = false; // The file says when this side ends.
    }

    public override int LocalPort => 0;

    /// <summary>The number in the address that the implementation has for its own end.</summary>
    public override int RemotePort => _peer.Number;

    public override void Drain()
    {
        lock (Gate)
        {
            if (End is not null || IsDropped)
            {
                return;
            }

            End = _peer.HasEnded ? CloseKind.Fin : _peer.IsClosed ? CloseKind.Rst : null; // Before what it has written until then is read.
            byte[] bytes = _peer.ReadAll();
            if (bytes.Length > 0)
            {
                Add(bytes);
            }

            if (bytes.Length > 0 || End is not null)
            {
                Changed.Set();
            }
        }
    }

    protected override Task WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellation)
    {
        if (!IsDropped)
        {
            _peer.Send(bytes);
        }

        return Task.CompletedTask;
    }

    protected override void EndSending() => _peer.EndSending();

    protected override void Leave(CloseKind how)
    {
        if (how is CloseKind.Rst)
        {
            _peer.Reset();
        }
        else
        {
            _peer.EndSending();
        }
    }
}
