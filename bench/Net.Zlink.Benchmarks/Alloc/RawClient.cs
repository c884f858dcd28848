using System.Net;
using System.Net.Sockets;
using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>Drives a server with plain blocking sockets, one thread each, in windows: sends so many frames, then reads and checks as many
/// replies.</summary>
internal sealed class RawClient : IDisposable
{
    private readonly Socket[] _sockets;
    private readonly byte[] _window;
    private readonly int _inFlight;

    public RawClient(IPEndPoint server, int connections, int inFlight, int size)
    {
        _inFlight = inFlight;
        int frame = StreamFraming.HeaderSize + size;
        _window = new byte[frame * inFlight];
        byte[] payload = new byte[size];
        for (int i = 0; i < inFlight; i++)
        {
            Random.Shared.NextBytes(payload);
            StreamFraming.WriteFrame(_window.AsSpan(i * frame), payload);
        }

        _sockets = [.. Enumerable.Range(0, connections).Select(_ => Connect(server))];
    }

    /// <summary>Sends so many messages over all connections together; completes when every reply has come and was right.</summary>
    public async Task RunAsync(int messages)
    {
        Task[] runs = [.. _sockets.Select(socket => Task.Factory.StartNew(
            () => Run(socket, messages / _sockets.Length), CancellationToken.None, TaskCreationOptions.LongRunning,
                TaskScheduler.Default))];
        await Task.WhenAll(runs);
    }

    public void Dispose()
    {
        foreach (Socket socket in _sockets)
        {
            socket.Dispose();
        }
    }

    private static Socket Connect(IPEndPoint server)
    {
        // A reply that takes longer than this is lost: a window is far below a second's work.
        const int TimeoutMilliseconds = 30_000;
        var socket = new Socket(server.AddressFamily, SocketType.Stream, ProtocolType.Tcp)
        {
            NoDelay = true,
            ReceiveTimeout = TimeoutMilliseconds,
            SendTimeout = TimeoutMilliseconds
        };
        socket.Connect(server);
        return socket;
    }

    private void Run(Socket socket, int messages)
    {
        byte[] replies = new byte[_window.Length];
        int frame = _window.Length / _inFlight;
        for (int left = messages; left > 0; left -= _inFlight)
        {
            int bytes = Math.Min(left, _inFlight) * frame;
            for (int sent = 0; sent < bytes;)
            {
                sent += socket.Send(_window.AsSpan(sent, bytes - sent));
            }

            for (int received = 0; received < bytes;)
            {
                int read = socket.Receive(replies.AsSpan(received, bytes - received));
                if (read == 0)
                {
                    throw new InvalidOperationException("The server ended the connection.");
                }

                received += read;
            }

            if (!replies.AsSpan(0, bytes).SequenceEqual(_window.AsSpan(0, bytes)))
            {
                throw new InvalidOperationException("The replies differ from what was sent.");
            }
        }
    }
}
