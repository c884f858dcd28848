using System.Net;
using System.Net.Sockets;
using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Played;

/// <summary>
/// The played end of one TCP connection. It always reads, so the implementation is never held up, and it reads under one lock together with
/// the
/// bookkeeping: when the kernel holds no byte for this end, <see cref="Received"/> has them all.
/// </summary>
internal sealed class PlayedConnection : IDisposable
{
    private readonly Lock _lock = new();
    private readonly Socket _socket;
    private readonly Signal _changed;
    private readonly byte[] _chunk = new byte[64 * 1024];
    private readonly MemoryStream _received = new();
    private readonly Func<long> _clock;
    private readonly List<(int Count, long At)> _arrivals = [];
    private volatile bool _dropped;

    public PlayedConnection(int number, Socket socket, Signal changed, Func<long> clock)
    {
        Number = number;
        _socket = socket;
        _changed = changed;
        _clock = clock;
        socket.Blocking = false; // Receive must say "nothing there", never wait.
        socket.NoDelay = true;   // Every write is a segment of its own.
        LocalPort = ((IPEndPoint)socket.LocalEndPoint!).Port;
        RemotePort = ((IPEndPoint)socket.RemoteEndPoint!).Port;
        _ = ReadAsync();
    }

    public int Number { get; }

    public int LocalPort { get; }

    public int RemotePort { get; }

    /// <summary>How many bytes the other side has sent so far, as far as they were read.</summary>
    public int ReceivedCount
    {
        get
        {
            lock (_lock)
            {
                return (int)_received.Length;
            }
        }
    }

    /// <summary>How many bytes were sent on this end.</summary>
    public int SentCount { get; private set; }

    /// <summary>How the other side ended its sending; null while it has not.</summary>
    public CloseKind? End { get; private set; }

    /// <summary>True once this end has closed, shut down sending, or dropped the connection.</summary>
    public bool ClosedHere { get; private set; }

    /// <summary>True once the connection was dropped: what was to be sent may have gone with it.</summary>
    public bool IsDropped => _dropped;

    public byte[] Received(int from)
    {
        lock (_lock)
        {
            return _received.GetBuffer().AsSpan(from, (int)_received.Length - from).ToArray();
        }
    }

    /// <summary>When, by the replay's clock, the first <paramref name="count"/> bytes were there.</summary>
    public long ArrivalOf(int count)
    {
        lock (_lock)
        {
            return _arrivals.First(arrival => arrival.Count >= count).At;
        }
    }

    /// <summary>Takes in what the kernel holds for this end.</summary>
    public void Drain()
    {
        lock (_lock)
        {
            while (End is null && !_dropped)
            {
                int count = _socket.Receive(_chunk, SocketFlags.None, out SocketError error);
                if (error is SocketError.WouldBlock)
                {
                    return;
                }

                if (error is not SocketError.Success || count == 0)
                {
                    End = error is SocketError.Success ? CloseKind.Fin : CloseKind.Rst;
                    return;
                }

                _received.Write(_chunk, 0, count);
                _arrivals.Add(((int)_received.Length, _clock()));
            }
        }
    }

    /// <summary>Sends all of it. A connection that the other side has closed swallows it: that may fail, and is no fault.</summary>
    public async Task SendAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellation)
    {
        SentCount += bytes.Length;
        try
        {
            while (!bytes.IsEmpty && !_dropped)
            {
                bytes = bytes[await _socket.SendAsync(bytes, cancellation)..];
            }
        }
        catch (SocketException)
        {
            // The other side has closed; its close is seen where it is read.
        }
    }

    /// <summary>Ends sending and reads on until the other side has closed.</summary>
    public void ShutdownSend()
    {
        ClosedHere = true;
        if (!_dropped)
        {
            try
            {
                _socket.Shutdown(SocketShutdown.Send);
            }
            catch (SocketException)
            {
                // Reset by the other side before.
            }
        }
    }

    /// <summary>The network, or a scripted listener, drops the connection.</summary>
    public void Drop(CloseKind how)
    {
        Drain();
        lock (_lock)
        {
            ClosedHere = true;
            if (!_dropped)
            {
                _dropped = true;
                _socket.LingerState = how is CloseKind.Rst ? new LingerOption(enable: true, seconds: 0)
                    : new LingerOption(enable: false, seconds: 0);
                _socket.Dispose();
            }
        }

        _changed.Set();
    }

    public void Dispose() => Drop(CloseKind.Rst); // No TIME_WAIT: a run makes thousands of connections.

    private async Task ReadAsync()
    {
        try
        {
            while (End is null)
            {
                await _socket.ReceiveAsync(Memory<byte>.Empty); // Readable, or ended.
                Drain();
                _changed.Set();
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            Drain();
            if (!_dropped)
            {
                End ??= CloseKind.Rst;
            }

            _changed.Set();
        }
    }
}
