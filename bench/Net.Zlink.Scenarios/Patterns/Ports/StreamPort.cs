using Net.Zlink.Scenarios.Measure;

namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>STREAM, consumed by pull: answers go to the peer that the last message came from.</summary>
internal readonly struct StreamPort(StreamSocket socket, uint peer) : IServerPort
{
    private readonly StreamMessage[] _many = new StreamMessage[CopyingReceive.Batch];
    private readonly OwnLines<uint> _last = new(1);

    public void Send(ReadOnlySpan<byte> payload) => socket.To(peer).Send(payload);

    public bool TrySend(ReadOnlySpan<byte> payload) => socket.To(peer).TrySend(payload);

    public void Receive(Span<byte> payload)
    {
        while (!Take(socket.Receive(), payload))
        {
            // Somebody connected: not a message.
        }
    }

    public bool TryReceive(Span<byte> payload)
    {
        while (socket.TryReceive(out StreamMessage message))
        {
            if (Take(message, payload))
            {
                return true;
            }
        }

        return false;
    }

    public int ReceiveMany(Span<byte> payload, int most)
    {
        int count = socket.ReceiveMany(_many.AsSpan(0, Math.Min(most, _many.Length)));
        int data = 0;
        for (int i = 0; i < count; i++)
        {
            data += Take(_many[i], payload) ? 1 : 0;
        }

        return data;
    }

    public void Answer(ReadOnlySpan<byte> payload) => socket.To(_last.First).Send(payload);

    private bool Take(in StreamMessage message, Span<byte> payload)
    {
        using (message)
        {
            if (message.Kind == StreamMessageKind.Disconnected)
            {
                throw new InvalidOperationException($"Peer {message.PeerId} disconnected: {message.Reason}.");
            }

            if (message.Kind != StreamMessageKind.Data)
            {
                return false;
            }

            message.Span.CopyTo(payload);
            _last.First = message.PeerId;
            return true;
        }
    }
}
