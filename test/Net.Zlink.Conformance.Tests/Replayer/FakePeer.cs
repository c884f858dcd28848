using System.Buffers.Binary;
using System.Net.Sockets;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>One connection of the <see cref="FakeStream"/>. Every member but the loops is called under its gate.</summary>
internal sealed class FakePeer(FakeStream owner, byte[] id, Socket socket) : IDisposable
{
    private readonly byte[] _chunk = new byte[64 * 1024];
    private readonly List<byte> _tail = [];
    private bool _disposed;
    private bool _discarding;

    public byte[] Id => id;

    /// <summary>True while the application may send to it.</summary>
    public bool IsKnown { get; private set; } = true;

    /// <summary>Completes when all that was given to send is with the kernel.</summary>
    public Task Sending { get; private set; } = Task.CompletedTask;

    public void Start()
    {
        socket.Blocking = false;
        socket.NoDelay = true;
        if (owner.Fault is Fault.SpeaksOnConnect)
        {
            SendFrame([]);
        }

        if (owner.Fault is not Fault.NeverReads)
        {
            _ = ReadAsync();
        }
    }

    public void SendFrame(byte[] payload)
    {
        byte[] frame = new byte[sizeof(uint) + payload.Length];
        BinaryPrimitives.WriteInt32BigEndian(frame, payload.Length);
        payload.CopyTo(frame, sizeof(uint));
        Sending = SendAsync(Sending, owner.Fault switch
        {
            Fault.DropsAByte => frame[..^1],
            Fault.SendsAByteMore => [.. frame, 0],
            Fault.SendsFramesTwice => [.. frame, .. frame],
            _ => frame,
        });
    }

    public void DisconnectByApp()
    {
        IsKnown = false;
        _discarding = true;
        owner.Deliver(id, [0], "disconnected");
        if (owner.Fault is not Fault.LeavesDisconnectedPeersOpen)
        {
            ShutdownSend();
        }
    }

    public void ShutdownSend()
    {
        _discarding = true;
        try
        {
            socket.Shutdown(SocketShutdown.Send);
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            // Gone already.
        }
    }

    public void Dispose()
    {
        _disposed = true;
        socket.Dispose();
    }

    private async Task SendAsync(Task before, byte[] bytes)
    {
        await before;
        try
        {
            for (int sent = 0; sent < bytes.Length;)
            {
                sent += await socket.SendAsync(bytes.AsMemory(sent));
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            // Gone; seen where it is read.
        }
    }

    private async Task ReadAsync()
    {
        try
        {
            while (true)
            {
                await socket.ReceiveAsync(Memory<byte>.Empty);
                lock (owner.Gate)
                {
                    if (!Drain())
                    {
                        return;
                    }
                }
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            lock (owner.Gate)
            {
                End();
            }
        }
    }

    /// <summary>False when the connection has ended.</summary>
    private bool Drain()
    {
        while (!_disposed)
        {
            int count = socket.Receive(_chunk, SocketFlags.None, out SocketError error);
            if (error is SocketError.WouldBlock)
            {
                return true;
            }

            if (error is not SocketError.Success || count == 0)
            {
                End();
                return false;
            }

            if (!_discarding)
            {
                _tail.AddRange(_chunk.AsSpan(0, count));
                Parse();
            }
        }

        return false;
    }

    private void Parse()
    {
        while (!_discarding && _tail.Count >= sizeof(uint))
        {
            uint length = BinaryPrimitives.ReadUInt32BigEndian([.. _tail[..sizeof(uint)]]);
            if (length > owner.Limit)
            {
                Lose(reason: 3);
                return;
            }

            bool whole = _tail.Count - sizeof(uint) >= length;
            bool taken = owner.Fault is Fault.TakesEachReadForOneFrame;
            if (!whole && !taken)
            {
                return;
            }

            int size = taken ? _tail.Count : sizeof(uint) + (int)length;
            byte[] payload = [.. _tail[sizeof(uint)..size]];
            _tail.RemoveRange(0, size);
            owner.Deliver(id, payload, "data");
            if (owner.Fault is Fault.ClosesEarly)
            {
                ShutdownSend();
            }
        }
    }

    private void Lose(int reason)
    {
        IsKnown = false;
        ShutdownSend();
        Tell(reason);
    }

    private void End()
    {
        if (!_disposed && !_discarding)
        {
            IsKnown = false;
            if (_tail.Count > 0 && owner.Fault is Fault.DeliversHalfMessagesOnLoss)
            {
                owner.Deliver(id, [.. _tail], "data");
            }

            Tell(reason: 4);
            owner.Lost();
        }

        Dispose();
    }

    private void Tell(int reason)
    {
        owner.Report("DISCONNECTED", reason, id);
        if (owner.Fault is not Fault.ForgetsTheDisconnectEvent)
        {
            owner.Deliver(id, [0], "disconnected");
        }
    }
}
