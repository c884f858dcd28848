using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>
/// A wire without kernel and thread. What its peer, the test, sends is one read each. What the library writes waits for the test. A call
/// of the peer runs what it causes, as a completion of the system does: on the calling thread, if the shard is idle.
/// </summary>
internal sealed class MemoryWire : Net.Zlink.Transports.Wire
{
    private readonly Lock _gate = new();
    private readonly Queue<ReadOnlyMemory<byte>> _arrived = [];
    private readonly MemoryStream _written = new();
    private ReadOnlyMemory<byte>? _pendingSend;
    private WireStatus _sendStatus;
    private long _room = long.MaxValue;
    private bool _isWaiting;
    private bool _peerEnded;
    private bool _hasEnded;
    private bool _isDead;
    private bool _isDisposed;

    /// <param name="transport">Its row.</param>
    /// <param name="name">What the addresses of both ends show.</param>
    /// <param name="number">Tells wires of one name apart.</param>
    public MemoryWire(Transport transport, string name, int number = 0)
        : base(transport)
    {
        RemoteEndPoint = LocalEndPoint = new MemoryAddress(name, number);
        Peer = new MemoryPeer(this, number);
    }

    public MemoryPeer Peer { get; }

    public ReadOnlyMemory<byte> Written
    {
        get
        {
            lock (_gate)
            {
                return _written.GetBuffer().AsMemory(0, (int)_written.Length);
            }
        }
    }

    public long Room => _room;

    public bool HasEnded => _hasEnded;

    public bool IsDisposed => _isDisposed;

    public override int Available => UnreadBytes;

    public override bool HasUnread => UnreadBytes > 0 || _peerEnded || _isDead;

    public override bool IsWritable => _room > 0 || _isDead;

    public override int UnreadBytes
    {
        get
        {
            lock (_gate)
            {
                return _arrived.Sum(static piece => piece.Length);
            }
        }
    }

    public override bool WaitForInput()
    {
        lock (_gate)
        {
            _isWaiting = _arrived.Count == 0 && !_peerEnded && !_isDead;
            return _isWaiting;
        }
    }

    public override WireStatus FinishWait() => _isDead ? WireStatus.Failed : WireStatus.Done;

    public override WireStatus Receive(Span<byte> into, out int received)
    {
        lock (_gate)
        {
            received = 0;
            if (_arrived.TryDequeue(out ReadOnlyMemory<byte> piece))
            {
                received = Math.Min(into.Length, piece.Length);
                piece.Span[..received].CopyTo(into);
                if (received < piece.Length)
                {
                    ReadOnlyMemory<byte>[] later = [.. _arrived];
                    _arrived.Clear();
                    _arrived.Enqueue(piece[received..]);
                    Array.ForEach(later, _arrived.Enqueue);
                }

                return WireStatus.Done;
            }

            return _isDead ? WireStatus.Failed : _peerEnded ? WireStatus.Ended : WireStatus.WouldWait;
        }
    }

    public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent)
    {
        lock (_gate)
        {
            sent = _isDead ? 0 : (int)Math.Min(_room, bytes.Length);
            _written.Write(bytes[..sent]);
            _room -= sent;
            return _isDead ? WireStatus.Failed : sent == 0 ? WireStatus.WouldWait : WireStatus.Done;
        }
    }

    public override bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
        _sendStatus = Send(bytes.Span, out int sent);
        SentBytes = sent;
        bool isPending = _sendStatus == WireStatus.WouldWait;
        _pendingSend = isPending ? bytes : null;
        return isPending;
    }

    public override WireStatus FinishSend() => _sendStatus;

    public override WireStatus EndSending(WireEnd end)
    {
        _hasEnded = true;
        if (Peer.AnswersEnd)
        {
            EndInput();
        }

        return _isDead ? WireStatus.Failed : WireStatus.Done;
    }

    public override void AvoidReset() => _hasEnded = true;

    public override void Dispose()
    {
        _isDisposed = true;
        Fail(SocketError.OperationAborted);
    }

    public void Arrive(ReadOnlyMemory<byte> bytes)
    {
        if (bytes.IsEmpty)
        {
            return;
        }

        lock (_gate)
        {
            _arrived.Enqueue(bytes);
        }

        NotifyInput();
    }

    public void EndInput()
    {
        _peerEnded = true;
        NotifyInput();
    }

    private void NotifyInput()
    {
        lock (_gate)
        {
            if (!_isWaiting)
            {
                return;
            }

            _isWaiting = false;
        }

        Events.OnInput();
    }

    public void SetRoom(long bytes)
    {
        lock (_gate)
        {
            _room = bytes;
            if (_pendingSend is not { } pending || bytes == 0)
            {
                return;
            }

            _pendingSend = null;
            _sendStatus = Send(pending.Span, out int sent);
            SentBytes = sent;
        }

        Events.OnSent();
    }

    public void Fail(SocketError error)
    {
        bool wasSending;
        lock (_gate)
        {
            Error = _isDead ? Error : error;
            _isDead = true;
            wasSending = _pendingSend is not null;
            _pendingSend = null;
            _sendStatus = WireStatus.Failed;
            SentBytes = 0;
        }

        NotifyInput();
        if (wasSending)
        {
            Events.OnSent();
        }
    }
}

/// <summary>The test's end of the wire.</summary>
internal sealed class MemoryPeer(MemoryWire wire, int number) : IDisposable
{
    private int _read;

    /// <summary>The number in the addresses of the library's end.</summary>
    public int Number => number;

    /// <summary>How many bytes the library has written that were not read.</summary>
    public int Unread => wire.Written.Length - _read;

    /// <summary>The library has ended its side in order, and what it wrote before is in <see cref="Read"/>.</summary>
    public bool HasEnded => wire.HasEnded;

    public bool IsClosed => wire.IsDisposed;

    /// <summary>Ends this side, too, when the library has ended its own. False: the test does, or never.</summary>
    public bool AnswersEnd { get; set; } = true;

    /// <summary>How many bytes more are accepted. Many by default; with none, a write waits.</summary>
    public long Room
    {
        get => wire.Room;
        set => wire.SetRoom(value);
    }

    /// <summary>The bytes arrive in one piece.</summary>
    public void Send(ReadOnlyMemory<byte> bytes) => wire.Arrive(bytes);

    /// <summary>The bytes arrive in pieces of that size.</summary>
    public void Send(ReadOnlyMemory<byte> bytes, int size)
    {
        for (; !bytes.IsEmpty; bytes = bytes[Math.Min(size, bytes.Length)..])
        {
            wire.Arrive(bytes[..Math.Min(size, bytes.Length)]);
        }
    }

    public byte[] Read(int count)
    {
        Assert.True(Unread >= count, $"{Unread} bytes were written, and not {count}");
        byte[] bytes = wire.Written.Slice(_read, count).ToArray();
        _read += count;
        return bytes;
    }

    public byte[] ReadAll() => Read(Unread);

    /// <summary>Ends this side, behind what was sent.</summary>
    public void EndSending() => wire.EndInput();

    public void Dispose() => EndSending();

    public void Reset() => wire.Fail(SocketError.ConnectionReset);
}

internal sealed class MemoryAddress(string name, int number) : EndPoint
{
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{name}:{number}");
}
