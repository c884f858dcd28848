using System.Buffers.Binary;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>A raw peer over tcp, that keeps all it is told.</summary>
internal sealed class WirePeer : IDisposable
{
    private const int HeaderSize = 8;

    private readonly Socket _socket;
    private readonly List<byte> _heard = [];
    private readonly byte[] _buffer = new byte[65536];
    private bool _hasEnded;

    private WirePeer(Socket socket, string name)
    {
        _socket = socket;
        _socket.NoDelay = true;
        Name = name;
    }

    /// <summary>One that connects.</summary>
    public static WirePeer Connect(string endpoint)
    {
        var address = IPEndPoint.Parse(endpoint["tcp://".Length..]);
        var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(address);
        return new WirePeer(socket, NameOf(socket.LocalEndPoint));
    }

    /// <summary>One that is connected to, or null if nobody connects in time.</summary>
    public static WirePeer? Accept(Socket listener, TimeSpan limit) =>
        listener.Poll(limit, SelectMode.SelectRead) ? new WirePeer(listener.Accept(), NameOf(listener.LocalEndPoint)) : null;

    /// <summary>As an endpoint.</summary>
    public static string NameOf(EndPoint? address) => $"tcp://{address}";

    /// <summary>As the other side's events name it.</summary>
    public string Name { get; }

    /// <summary>The other side has ended the connection, be it in order or by a reset.</summary>
    public bool IsOver { get; private set; }

    public void Write(WireStep.Write step)
    {
        ReadOnlySpan<byte> rest = step.Bytes;
        foreach (int piece in step.Pieces)
        {
            if (piece < rest.Length)
            {
                Write(rest[..piece]);
                rest = rest[piece..];
                Listen(TimeSpan.FromMilliseconds(1));
            }
        }

        Write(rest);
    }

    /// <summary>Sends a heartbeat and waits for its answer, or for the end: what was written before has been read then.</summary>
    public void Ask(uint number, TimeSpan limit)
    {
        Write(WireConversation.Heartbeat(number));
        byte[] answer = WireConversation.Answer(number);
        long start = Stopwatch.GetTimestamp();
        while (!IsOver && !Heard(answer) && Stopwatch.GetElapsedTime(start) < limit)
        {
            Listen(TimeSpan.FromMilliseconds(10));
        }
    }

    /// <summary>Reads for so long, or until the end.</summary>
    public void Listen(TimeSpan time)
    {
        long start = Stopwatch.GetTimestamp();
        TimeSpan left = time;
        while (!IsOver && !_hasEnded && left > TimeSpan.Zero)
        {
            try
            {
                if (_socket.Poll(left, SelectMode.SelectRead))
                {
                    int read = _socket.Receive(_buffer);
                    IsOver = read == 0;
                    _heard.AddRange(_buffer.AsSpan(0, read));
                }
            }
            catch (SocketException)
            {
                IsOver = true;
            }

            left = time - Stopwatch.GetElapsedTime(start);
        }
    }

    public void End(bool resets)
    {
        _hasEnded = true;
        if (resets)
        {
            _socket.LingerState = new LingerOption(enable: true, 0);
        }

        _socket.Dispose();
    }

    /// <summary>What was heard, a line for each frame, and whether the connection was ended. Without the answers to heartbeats: natively one answer is for all that came while a write was under way.</summary>
    public IEnumerable<string> Account()
    {
        byte[] all = [.. _heard];
        List<string> control = [];
        List<string> data = [];
        int at = 0;
        while (at < all.Length)
        {
            int length = all.Length - at < HeaderSize ? all.Length - at : (int)Math.Min(all.Length - at, HeaderSize + (long)BinaryPrimitives.ReadUInt32BigEndian(all.AsSpan(at + 4)));
            string frame = Convert.ToHexStringLower(all.AsSpan(at, length));
            at += length;
            bool isControl = frame.StartsWith("5a0102", StringComparison.Ordinal);
            if (!isControl || !frame.AsSpan(2 * HeaderSize).StartsWith("03", StringComparison.Ordinal))
            {
                (isControl ? control : data).Add(frame);
            }
        }

        // A control frame overtakes what waits to be sent, so only the order of each kind says something.
        return [.. control, .. data, IsOver ? "closed" : "open"];
    }

    public void Dispose() => _socket.Dispose();

    private bool Heard(ReadOnlySpan<byte> what) => System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_heard).IndexOf(what) >= 0;

    private void Write(ReadOnlySpan<byte> bytes)
    {
        try
        {
            if (!IsOver && !bytes.IsEmpty)
            {
                _socket.Send(bytes);
            }
        }
        catch (SocketException)
        {
            // Ended by the other side; what it said before is still read.
        }
    }
}
