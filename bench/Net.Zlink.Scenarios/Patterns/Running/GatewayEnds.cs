using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Patterns.Ports;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>A gateway sends round robin, and one thread receives from the receivers, on their sockets as the native program does.</summary>
/// <param name="client">Sends, and waits for room.</param>
/// <param name="receivers">The sockets of the receivers.</param>
/// <param name="poller">Waits for any of them, where there are several.</param>
/// <param name="batch">With SendMany: every 64th send sends 64 messages.</param>
internal readonly struct GatewayEnds(ServiceClient client, RouterPort[] receivers, SocketPoller poller, bool batch) : IPatternEnds
{
    // One block of a SendMany.
    private const int BatchSize = 64;

    // The sending thread's.
    private readonly OwnLines<int> _sent = new(1);
    private readonly ReadOnlyMemory<byte>[] _batch = new ReadOnlyMemory<byte>[BatchSize];

    // The receiving thread's.
    private readonly OwnLines<int> _turn = new(1);
    private readonly PollResult[] _ready = new PollResult[1];

    public int Ways => batch ? 0 : 1;

    public int Multiple => batch ? BatchSize * receivers.Length : 1;

    public void Send(ReadOnlySpan<byte> payload)
    {
        if (!batch)
        {
            client.Send(payload);
            return;
        }

        if (_sent.First == 0)
        {
            SendBatch(payload);
        }

        _sent.First = _sent.First + 1 < BatchSize ? _sent.First + 1 : 0;
    }

    public void Receive(Span<byte> payload)
    {
        if (receivers.Length == 1)
        {
            receivers[0].Receive(payload);
            return;
        }

        for (int empty = 0; !receivers[_turn.First].TryReceive(payload);)
        {
            empty = NextReceiver(empty);
        }
    }

    public int ReceiveMany(Span<byte> payload, int most)
    {
        for (int empty = 0; ;)
        {
            int count = receivers[_turn.First].ReceiveMany(payload, most);
            if (count > 0)
            {
                return count;
            }

            if (receivers.Length == 1)
            {
                Receive(payload);
                return 1;
            }

            empty = NextReceiver(empty);
        }
    }

    public void SendBack(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public void ReceiveBack(Span<byte> payload) => throw new NotSupportedException();

    public void AwaitConnection()
    {
        int count = receivers.Length;
        Settling.Until(client, client => client.ReadyCount == count);
        Settling.Rest();
    }

    /// <summary>Goes on with the next receiver, and waits once all were found empty.</summary>
    private int NextReceiver(int empty)
    {
        _turn.First = _turn.First + 1 < receivers.Length ? _turn.First + 1 : 0;
        if (empty + 1 < receivers.Length)
        {
            return empty + 1;
        }

        poller.Poll(_ready, Timeout.InfiniteTimeSpan);
        return 0;
    }

    private void SendBatch(ReadOnlySpan<byte> payload)
    {
        // The payload of a measurement never moves and never changes.
        if (_batch[0].Length != payload.Length)
        {
            Array.Fill(_batch, payload.ToArray());
        }

        for (int sent = 0; sent < BatchSize;)
        {
            sent += client.SendMany(_batch.AsSpan(sent));
            if (sent < BatchSize)
            {
                client.Send(payload); // Waits for room.
                sent++;
            }
        }
    }
}
