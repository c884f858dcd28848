using System.Buffers.Binary;
using System.Net.Sockets;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>One connection of the <see cref="FakeStream"/>. Every member but the loops is called under its gate.</summary>
internal sealed class FakePeer : IDisposable
{
    private readonly byte[] _chunk = new byte[64 * 1024];
    private readonly List<byte> _tail = [];
    private readonly FakeStream _owner;
    private readonly Socket _socket;
    private readonly FakeWs? _ws;
    private byte[] _id = [];
    private bool _disposed;
    private bool _discarding;

    public FakePeer(FakeStream owner, Socket socket)
    {
        (_owner, _socket) = (owner, socket);
        _ws = owner.IsWs ? new FakeWs(owner.Fault, Write) : null;
    }

    public byte[] Id => _id;

    /// <summary>True while the application may send to it.</summary>
    public bool IsKnown { get; private set; }

    /// <summary>Completes when all that was given to send is with the kernel.</summary>
    public Task Sending { get; private set; } = Task.CompletedTask;

    public void Start()
    {
        _socket.Blocking = false;
        _socket.NoDelay = true;
        if (_ws is null)
        {
            ComeUp();
        }

        if (_owner.Fault is not Fault.NeverReads)
        {
            _ = ReadAsync();
        }
    }

    public void SendFrame(byte[] payload)
    {
        byte[] frame = new byte[sizeof(uint) + payload.Length];
        BinaryPrimitives.WriteInt32BigEndian(frame, payload.Length);
        payload.CopyTo(frame, sizeof(uint));
        byte[] bytes = _owner.Fault switch
        {
            Fault.DropsAByte => frame[..^1],
            Fault.SendsAByteMore => [.. frame, 0],
            Fault.SendsFramesTwice => [.. frame, .. frame],
            _ => frame,
        };
        Write(_ws is null ? bytes : WsFrame.Write(WsOpcode.Binary, bytes));
    }

    /// <summary>Nothing was asked of it in time.</summary>
    public void GiveUp()
    {
        if (_ws is { State: FakeWsState.Waiting } && !_discarding)
        {
            Refuse();
        }
    }

    public void DisconnectByApp()
    {
        IsKnown = false;
        _discarding = true;
        _owner.Deliver(_id, [0], "disconnected");
        if (_owner.Fault is not Fault.LeavesDisconnectedPeersOpen)
        {
            _ws?.Close();
            ShutdownSend();
        }
    }

    public void ShutdownSend()
    {
        _discarding = true;
        EndSending();
    }

    private void EndSending()
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Send);
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            // Gone already.
        }
    }

    public void Dispose()
    {
        _disposed = true;
        _socket.Dispose();
    }

    private void Write(byte[] bytes) => Sending = SendAsync(Sending, bytes);

    private async Task SendAsync(Task before, byte[] bytes)
    {
        await before;
        try
        {
            for (int sent = 0; sent < bytes.Length;)
            {
                sent += await _socket.SendAsync(bytes.AsMemory(sent));
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
                await _socket.ReceiveAsync(Memory<byte>.Empty);
                lock (_owner.Gate)
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
            lock (_owner.Gate)
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
            int count = _socket.Receive(_chunk, SocketFlags.None, out SocketError error);
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
                Take(_chunk.AsSpan(0, count));
            }
        }

        return false;
    }

    private void Take(ReadOnlySpan<byte> bytes)
    {
        if (_ws is null)
        {
            _tail.AddRange(bytes);
            Parse();
            return;
        }

        FakeWsState before = _ws.State;
        byte[] payload = _ws.Take(bytes);
        if (before is FakeWsState.Waiting && _ws.State is FakeWsState.Refused)
        {
            Refuse();
            return;
        }

        if (before is FakeWsState.Waiting && _ws.State is not FakeWsState.Waiting)
        {
            ComeUp();
        }

        _tail.AddRange(payload);
        Parse();
        if (_ws.State is FakeWsState.Closing && before is not FakeWsState.Closing && !_discarding)
        {
            EndSending(); // And waits for the peer's own end.
        }
    }

    private void ComeUp()
    {
        IsKnown = true;
        _id = _owner.NextId();
        _owner.Report("CONNECTION_READY", 0, _id);
        _owner.Deliver(_id, [1], "connected");
        if (_owner.Fault is Fault.SpeaksOnConnect)
        {
            SendFrame([]);
        }
    }

    private void Refuse()
    {
        ShutdownSend();
        _owner.Report("HANDSHAKE_FAILED_NO_DETAIL", 0, _id);
        _owner.Report("DISCONNECTED", 3, _id);
    }

    private void Parse()
    {
        while (!_discarding && _tail.Count >= sizeof(uint))
        {
            uint length = BinaryPrimitives.ReadUInt32BigEndian([.. _tail[..sizeof(uint)]]);
            if (length > _owner.Limit)
            {
                _ws?.CloseTooLong(length, _owner.Limit);
                Lose(reason: 3);
                return;
            }

            bool whole = _tail.Count - sizeof(uint) >= length;
            bool taken = _owner.Fault is Fault.TakesEachReadForOneFrame;
            if (!whole && !taken)
            {
                return;
            }

            int size = taken ? _tail.Count : sizeof(uint) + (int)length;
            byte[] payload = [.. _tail[sizeof(uint)..size]];
            _tail.RemoveRange(0, size);
            _owner.Deliver(_id, payload, "data");
            if (_owner.Fault is Fault.ClosesEarly)
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
            if (!IsKnown)
            {
                Refuse();
                Dispose();
                return;
            }

            IsKnown = false;
            if (_tail.Count > 0 && _owner.Fault is Fault.DeliversHalfMessagesOnLoss)
            {
                _owner.Deliver(_id, [.. _tail], "data");
            }

            Tell(reason: 4);
            _owner.Lost();
        }

        Dispose();
    }

    private void Tell(int reason)
    {
        _owner.Report("DISCONNECTED", reason, _id);
        if (_owner.Fault is not Fault.ForgetsTheDisconnectEvent)
        {
            _owner.Deliver(_id, [0], "disconnected");
        }
    }
}
