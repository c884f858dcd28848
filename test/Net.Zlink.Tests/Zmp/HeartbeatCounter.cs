using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Stands between a connecting and a bound endpoint, on two threads of its own that need the thread pool for nothing, and counts
/// the heartbeats that pass.</summary>
internal sealed class HeartbeatCounter : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly Socket _far = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly long[] _passed = new long[2];
    private readonly Lock _gate = new();
    private readonly List<Thread> _threads = [];
    private Socket? _near;
    private bool _isDisposed;

    public HeartbeatCounter(string boundEndpoint)
    {
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen(1);
        _far.Connect(RawPeer.AddressOf(boundEndpoint));
        Start(() =>
        {
            Socket near = _listener.Accept();
            near.NoDelay = true;
            lock (_gate)
            {
                _near = near;
                if (_isDisposed)
                {
                    near.Dispose();
                }
            }

            Start(() => Pump(_far, near, 1));
            Pump(near, _far, 0);
        });
    }

    public string Endpoint => $"tcp://{_listener.LocalEndPoint}";

    /// <summary>Heartbeats of both sides so far.</summary>
    public long Count => Volatile.Read(ref _passed[0]) + Volatile.Read(ref _passed[1]);

    /// <summary>Blocks until each side has sent so many more.</summary>
    public void WaitFor(int heartbeats)
    {
        lock (_passed)
        {
            long[] wanted = [_passed[0] + heartbeats, _passed[1] + heartbeats];
            while (_passed[0] < wanted[0] || _passed[1] < wanted[1])
            {
                Assert.True(Monitor.Wait(_passed, Guard.Limit),
                    $"no heartbeat came for {Guard.Limit}; it were {_passed[0]} and {_passed[1]} so far");
            }
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            _near?.Dispose();
        }

        _listener.Dispose();
        _far.Dispose();
        foreach (Thread thread in _threads.ToArray())
        {
            thread.JoinGuarded();
        }
    }

    private void Start(Action body)
    {
        var thread = new Thread(() =>
        {
            try
            {
                body();
            }
            catch (Exception e) when (e is SocketException or IOException or ObjectDisposedException)
            {
                // The test is over, or finds out that a connection broke.
            }
        })
        { IsBackground = true };
        lock (_gate)
        {
            _threads.Add(thread);
        }

        thread.Start();
    }

    private void Pump(Socket from, Socket to, int side)
    {
        using var input = new NetworkStream(from);
        byte[] header = new byte[ZmpFrame.HeaderSize];
        while (true)
        {
            input.ReadExactly(header);
            byte[] body = new byte[BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(4))];
            input.ReadExactly(body);
            to.Send([.. header, .. body]);
            if ((ZmpFlags)header[ZmpFrame.FlagsOffset] == ZmpFlags.Control && body is [ZmpControl.Heartbeat, ..])
            {
                lock (_passed)
                {
                    _passed[side]++;
                    Monitor.PulseAll(_passed);
                }
            }
        }
    }
}
