using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>A native socket whose messages have one part: PAIR, DEALER, PUB, SUB. The native library has no batches: they are made one by
/// one.</summary>
internal readonly struct NativePort(NativeSocket socket) : IServerPort
{
    public void Send(ReadOnlySpan<byte> payload) => socket.Send(payload, NativeFlags.None);

    public bool TrySend(ReadOnlySpan<byte> payload) => socket.TrySend(payload, NativeFlags.None);

    public void Receive(Span<byte> payload) => socket.Receive(payload);

    public bool TryReceive(Span<byte> payload) => socket.TryReceive(payload) >= 0;

    public int ReceiveMany(Span<byte> payload, int most)
    {
        int count = 0;
        while (count < most && TryReceive(payload))
        {
            count++;
        }

        return count;
    }

    public void Answer(ReadOnlySpan<byte> payload) => socket.Send(payload, NativeFlags.None);
}

/// <summary>A native socket whose messages are an id and a payload: ROUTER and STREAM.</summary>
/// <param name="socket">The socket.</param>
/// <param name="peerId">To whom <see cref="Send"/> sends.</param>
/// <param name="poll">Each receive after a poll.</param>
internal readonly struct NativeRoutedPort(NativeSocket socket, byte[] peerId, bool poll) : IServerPort
{
    private const int WithoutEnd = -1;

    private readonly LastId _last = new();

    public void Send(ReadOnlySpan<byte> payload)
    {
        socket.Send(peerId, NativeFlags.SendMore);
        socket.Send(payload, NativeFlags.None);
    }

    public bool TrySend(ReadOnlySpan<byte> payload) =>
        socket.TrySend(peerId, NativeFlags.SendMore) && socket.TrySend(payload, NativeFlags.None);

    public void Receive(Span<byte> payload)
    {
        if (poll)
        {
            socket.Poll(WithoutEnd);
        }

        _last.Length = socket.Receive(_last.Bytes);
        socket.Receive(payload);
    }

    public bool TryReceive(Span<byte> payload)
    {
        int length = poll && !socket.Poll(0) ? -1 : socket.TryReceive(_last.Bytes);
        if (length < 0)
        {
            return false;
        }

        _last.Length = length;
        socket.Receive(payload);
        return true;
    }

    public int ReceiveMany(Span<byte> payload, int most)
    {
        int count = 0;
        while (count < most && TryReceive(payload))
        {
            count++;
        }

        return count;
    }

    public void Answer(ReadOnlySpan<byte> payload)
    {
        socket.Send(_last.Bytes[.._last.Length], NativeFlags.SendMore);
        socket.Send(payload, NativeFlags.None);
    }
}
