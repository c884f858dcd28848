using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>One connection of a <see cref="RecordedSide"/>. Every member but the watching is called under its lock.</summary>
internal sealed class RecordedConnection : IDisposable
{
    private readonly byte[] _chunk = new byte[64 * 1024];
    private readonly Socket _socket;
    private readonly WireRecord[] _records;
    private readonly string _name;
    private readonly IReadOnlySet<int> _handshakes;
    private readonly bool _isHurried;
    private readonly Func<WireRecord, byte[], byte[]> _change;
    private readonly bool _isAbsolute;
    private int _next;
    private int _received;
    private (int Step, int Recorded, long Here) _first = (-1, 0, 0);
    private bool _ended;
    private bool _closed;

    /// <param name="socket">Its end.</param>
    /// <param name="records">What was on it.</param>
    /// <param name="name">The side that this is.</param>
    /// <param name="handshakes">Steps in which nobody waits for the other.</param>
    /// <param name="isAbsolute">The times count from the start: true without a RAW side, whose recordings have pauses between the
    /// steps.</param>
    /// <param name="isHurried">A fault: the times between its records are not kept.</param>
    /// <param name="change">What becomes of its bytes on their way out.</param>
    public RecordedConnection(Socket socket, WireRecord[] records, string name, IReadOnlySet<int> handshakes, bool isAbsolute,
        bool isHurried, Func<WireRecord, byte[], byte[]> change)
    {
        (_socket, _records, _name, _handshakes, _isAbsolute, _isHurried, _change) =
            (socket, records, name, handshakes, isAbsolute, isHurried, change);
        _socket.Blocking = false;
    }

    public bool IsLost => _ended || _closed;

    /// <summary>All that the other side does on it up to this step has come.</summary>
    public bool HasSeen(int step) => Has([.. _records.Where(record => record.Step <= step)]);

    /// <summary>Sends every record of its own whose turn has come.</summary>
    public void Play(Func<int, bool, bool> hasReached, long elapsed)
    {
        Drain();
        while (_next < _records.Length)
        {
            WireRecord record = _records[_next];
            if (IsOwn(record))
            {
                // In a handshake nobody waits for the other.
                bool atOnce = _handshakes.Contains(record.Step) && record.Http?.Status is null && !Array.Exists(_records[.._next], IsOwn);
                bool caused = Array.Exists(_records[.._next], earlier => earlier.Step == record.Step && !IsOwn(earlier));
                if (!hasReached(record.Step, caused) || (!atOnce && !Has(_records[.._next])))
                {
                    return;
                }

                if (record.AtMs is { } at && !_isHurried && !(_handshakes.Contains(record.Step) && _next < 2))
                {
                    _first = _first.Step == record.Step ? _first : (record.Step, at, elapsed);
                    if (_isAbsolute ? elapsed < at : elapsed - _first.Here < at - _first.Recorded)
                    {
                        return;
                    }
                }

                Send(record);
            }

            _next++;
        }
    }

    public async Task WatchAsync(RecordedSide owner)
    {
        try
        {
            while (!_ended)
            {
                await _socket.ReceiveAsync(Memory<byte>.Empty);
                owner.Play();
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            _ended = true;
            _socket.Dispose();
            owner.Play();
        }
    }

    public void Dispose() => _socket.Dispose();

    /// <summary>The request of a ws client names the port that it connects to.</summary>
    private byte[] WithPortInUse(WireRecord record)
    {
        byte[] bytes = record.Bytes;
        foreach (RandomField field in record.Random.Where(field => field.Id is "port"))
        {
            string port = ((IPEndPoint)_socket.RemoteEndPoint!).Port.ToString(CultureInfo.InvariantCulture);
            bytes = [.. bytes[..field.Offset], .. Encoding.ASCII.GetBytes(port), .. bytes[(field.Offset + field.Length)..]];
        }

        return bytes;
    }

    private bool IsOwn(WireRecord record) => string.Equals(record.From, _name, StringComparison.Ordinal);

    private bool Has(WireRecord[] records)
        => _received >= records.Where(record => !IsOwn(record)).Sum(record => record.Bytes.Length)
            && (_ended || !Array.Exists(records, record => !IsOwn(record) && record is { Close: not null, Assumed: false }));

    private void Drain()
    {
        while (!_ended)
        {
            int count = _socket.Receive(_chunk, SocketFlags.None, out SocketError error);
            if (error is SocketError.WouldBlock)
            {
                return;
            }

            _received += count;
            _ended = error is not SocketError.Success || count == 0;
            if (error is not SocketError.Success)
            {
                _socket.Dispose(); // Reset: there is nothing left to keep.
            }
        }
    }

    private void Send(WireRecord record)
    {
        try
        {
            if (record.Close is not null)
            {
                _closed = true;
                _socket.Shutdown(SocketShutdown.Send);
                return;
            }

            ReadOnlySpan<byte> left = _change(record, WithPortInUse(record));
            while (!left.IsEmpty)
            {
                int sent = _socket.Send(left, SocketFlags.None, out SocketError error);
                if (error is SocketError.WouldBlock)
                {
                    _socket.Poll(TimeSpan.FromSeconds(1), SelectMode.SelectWrite);
                    continue;
                }

                if (error is not SocketError.Success)
                {
                    return;
                }

                left = left[sent..];
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            // Reset by the other side.
        }
    }
}
