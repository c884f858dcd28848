using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Patterns.Ports;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>A gateway sends round robin, and one thread receives from the receivers in the same order, on their sockets as the native
/// program does.</summary>
/// <param name="client">Sends; it waits for room and never skips a receiver, so the order is kept.</param>
/// <param name="receivers">The sockets of the receivers, in the order in which it takes them.</param>
/// <param name="batch">With SendMany: every 64th send sends 64 messages.</param>
internal readonly struct GatewayEnds(ServiceClient client, RouterPort[] receivers, bool batch) : IPatternEnds
{
    // One block of a SendMany.
    private const int BatchSize = 64;

    // The sending thread's.
    private readonly OwnLines<int> _sent = new(1);
    private readonly ReadOnlyMemory<byte>[] _batch = new ReadOnlyMemory<byte>[BatchSize];

    // The receiving thread's.
    private readonly OwnLines<int> _turn = new(1);

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

    public void Receive(Span<byte> payload) => receivers[Next()].Receive(payload);

    public int ReceiveMany(Span<byte> payload, int most)
    {
        // Of several receivers one at a time has the next message.
        int count = receivers.Length > 1 ? 0 : receivers[0].ReceiveMany(payload, most);
        if (count == 0)
        {
            Receive(payload);
            count = 1;
        }

        return count;
    }

    public void SendBack(ReadOnlySpan<byte> payload) => throw new NotSupportedException();

    public void ReceiveBack(Span<byte> payload) => throw new NotSupportedException();

    public void AwaitConnection()
    {
        int count = receivers.Length;
        Settling.Until(client, client => client.ReadyCount == count);
        Settling.Rest();
    }

    private int Next()
    {
        int next = _turn.First;
        _turn.First = next + 1 < receivers.Length ? next + 1 : 0;
        return next;
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
            sent += client.SendMany(_batch.AsSpan(sent), out ZlinkError error);
            if (error is not (ZlinkError.None or ZlinkError.Again))
            {
                throw new InvalidOperationException($"A batch was refused: {error}.");
            }

            if (sent < BatchSize)
            {
                client.Send(payload); // Waits for room.
                sent++;
            }
        }
    }
}
