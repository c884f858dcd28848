using System.Buffers.Binary;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using HdrHistogram;

namespace EchoServer.Demo;

/// <summary>
/// One connection of the demo: a plain socket that knows nothing of Net.Zlink, so that it judges the server by its bytes alone.
/// It keeps a fixed number of messages on their way and checks every reply. Its loop is one async method with two buffers, all made
/// before the measuring begins: what is allocated per message is then the server's doing.
/// </summary>
internal sealed class DemoClient : IDisposable
{
    /// <summary>One reply in 8 gives its round-trip time; the clock and the histogram would cost something if all did.</summary>
    private const int TimedOneIn = 8;

    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly int _number;
    private readonly int _inFlight;
    private readonly HistogramBase _roundTrips;
    private readonly byte[] _outgoing;
    private readonly byte[] _incoming;
    private int _incomingLength;
    private long _sent;
    private long _checked;
    private long _checkedBytes;
    private volatile bool _stopping;

    public DemoClient(int number, int inFlight, HistogramBase roundTrips)
    {
        _number = number;
        _inFlight = inFlight;
        _roundTrips = roundTrips;
        _outgoing = new byte[inFlight * DemoMessages.LargestFrame];
        _incoming = new byte[inFlight * DemoMessages.LargestFrame];
    }

    /// <summary>Replies that arrived and were right.</summary>
    public long Checked => Volatile.Read(ref _checked);

    /// <summary>Their payload bytes.</summary>
    public long CheckedBytes => Volatile.Read(ref _checkedBytes);

    /// <summary>Messages sent that are not answered yet.</summary>
    public long Missing => Volatile.Read(ref _sent) - Checked;

    public Task ConnectAsync(IPEndPoint server) => _socket.ConnectAsync(server);

    /// <summary>No new messages from now on; <see cref="RunAsync"/> ends when the last reply is in.</summary>
    public void Stop() => _stopping = true;

    /// <summary>Sends, receives and checks until <see cref="Stop"/>; throws <see cref="DemoException"/> at the first wrong reply.</summary>
    public async Task RunAsync()
    {
        while (true)
        {
            int length = _stopping ? 0 : WriteFrames();
            for (int done = 0; done < length;)
            {
                done += await _socket.SendAsync(_outgoing.AsMemory(done, length - done), SocketFlags.None);
            }

            if (_sent == _checked)
            {
                break;
            }

            int received = await _socket.ReceiveAsync(_incoming.AsMemory(_incomingLength), SocketFlags.None);
            if (received == 0)
            {
                throw new DemoException($"connection {_number}: the server closed it while {Missing} replies were missing");
            }

            _incomingLength += received;
            CheckReplies();
        }

        await SayGoodbyeAsync();
    }

    public void Dispose() => _socket.Dispose();

    /// <summary>As many new messages as replies came in, so that the number in flight stays the same.</summary>
    private int WriteFrames()
    {
        long now = Stopwatch.GetTimestamp();
        int length = 0;
        long end = _checked + _inFlight;
        for (; _sent < end; _sent++)
        {
            length += DemoMessages.WriteFrame(_outgoing.AsSpan(length), _number, _sent, now);
        }

        return length;
    }

    /// <summary>Takes the whole frames off the front of what has arrived; the rest of an incomplete one waits for the next read.</summary>
    private void CheckReplies()
    {
        ReadOnlySpan<byte> arrived = _incoming.AsSpan(0, _incomingLength);
        while (BinaryPrimitives.TryReadUInt32BigEndian(arrived, out uint length))
        {
            if (length > DemoPlan.MessageSize)
            {
                throw new DemoException($"connection {_number}: reply {_checked} announces {length} bytes");
            }

            if (arrived.Length < DemoMessages.PrefixSize + (int)length)
            {
                break;
            }

            Check(arrived.Slice(DemoMessages.PrefixSize, (int)length));
            arrived = arrived[(DemoMessages.PrefixSize + (int)length)..];
        }

        arrived.CopyTo(_incoming);
        _incomingLength = arrived.Length;
    }

    private void Check(ReadOnlySpan<byte> reply)
    {
        if (_checked == _sent)
        {
            throw new DemoException($"connection {_number}: a reply came that nobody asked for");
        }

        if (DemoMessages.FaultOf(reply, _number, _checked) is string fault)
        {
            throw new DemoException($"connection {_number}: reply {_checked} {fault}");
        }

        if (_checked % TimedOneIn == 1)
        {
            HistogramWindow.Record(_roundTrips, Stopwatch.GetElapsedTime(DemoMessages.TimestampOf(reply)));
        }

        Volatile.Write(ref _checkedBytes, _checkedBytes + reply.Length);
        Volatile.Write(ref _checked, _checked + 1);
    }

    /// <summary>Our end of the stream, then the server's: nothing may come in between.</summary>
    private async Task SayGoodbyeAsync()
    {
        _socket.Shutdown(SocketShutdown.Send);
        if (_incomingLength > 0 || await _socket.ReceiveAsync(_incoming, SocketFlags.None) > 0)
        {
            throw new DemoException($"connection {_number}: bytes came after the last reply");
        }
    }
}
