using System.Net.Sockets;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Load;

/// <summary>A connection of the load over tcp.</summary>
internal sealed class TcpLoadConnection(Socket socket, LoadState state, uint id) : RawConnection(socket), ILoadConnection
{
    private readonly Conversation _conversation = new(state, id);
    private bool _isEnding;

    public int InFlight => _conversation.InFlight;

    public long Sent => _conversation.Sent;

    public bool IsOver => IsClosed;

    // A client that stopped reading while its server waits for it to read would wait for ever.
    protected override bool ReadsWhileSending => true;

    public void Probe() => Locked(static connection =>
    {
        var self = (TcpLoadConnection)connection;
        self._conversation.AllowProbe();
        self.Fill();
    });

    public void End()
    {
        Volatile.Write(ref _isEnding, true);
        Close();
    }

    protected override void OnStarted() => Fill();

    protected override int OnBytes(ReadOnlySpan<byte> bytes)
    {
        int used = _conversation.OnBytes(bytes, state.Worker);
        if (used < 0)
        {
            End();
            return 0;
        }

        Fill();
        return used;
    }

    protected override void OnWritable() => Fill();

    protected override void OnClosed(SocketError error)
    {
        if (!Volatile.Read(ref _isEnding))
        {
            state.CountLost(error);
        }
    }

    private void Fill()
    {
        byte[] batch = state.Worker.Batch;
        while (!IsSendPending && !IsClosed)
        {
            int length = _conversation.Compose(batch);
            if (length == 0)
            {
                return;
            }

            Send(batch.AsSpan(0, length));
        }
    }
}
