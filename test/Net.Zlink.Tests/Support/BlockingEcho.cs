using System.Net.Sockets;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>A client of a STREAM echo on a blocking socket: on a thread of the test's own it needs the pool for nothing. Connected when it
/// is made.</summary>
internal sealed class BlockingEcho : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
    {
        NoDelay = true,
        ReceiveTimeout = (int)Guard.Limit.TotalMilliseconds
    };
    private readonly byte[] _frame = Wire.Frame(Wire.Pattern(100));
    private readonly byte[] _answer;

    public BlockingEcho(string endpoint)
    {
        _answer = new byte[_frame.Length];
        _socket.Connect(RawPeer.AddressOf(endpoint));
    }

    /// <summary>A frame there and back.</summary>
    public void RoundTrip()
    {
        _socket.Send(_frame);
        for (int have = 0; have < _answer.Length;)
        {
            int received = _socket.Receive(_answer, have, _answer.Length - have, SocketFlags.None);
            Assert.NotEqual(0, received);
            have += received;
        }
    }

    public void Dispose() => _socket.Dispose();
}
