using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Scenarios.Measure;

namespace Net.Zlink.Scenarios.Http;

/// <summary>Clients that send requests in groups, each group behind the answers to the one before.</summary>
internal sealed class PlaintextLoad : IAsyncDisposable
{
    // The answers are all of one length: that of the first, which each connection measures.
    private const int LongestAnswer = 1024;
    private const int ConnectsAtOnce = 100;

    private readonly ThreadLocal<LatencyHistogram> _times = new(static () => new LatencyHistogram(), trackAllValues: true);
    private readonly List<Socket> _sockets = [];
    private readonly byte[] _group;
    private readonly int _pipelined;
    private Task _clients = Task.CompletedTask;
    private int _phase;
    private long _answers;

    private PlaintextLoad(int pipelined)
    {
        _pipelined = pipelined;
        byte[] request = "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\nConnection: keep-alive\r\n\r\n"u8.ToArray();
        _group = [.. Enumerable.Repeat(request, pipelined).SelectMany(static one => one)];
    }

    private enum Phase
    {
        WarmUp,
        Measured,
        Ended,
    }

    public static async Task<PlaintextLoad> StartAsync(int port, int connections, int pipelined, CancellationToken cancellation)
    {
        var load = new PlaintextLoad(pipelined);
        try
        {
            for (int left = connections; left > 0; left -= ConnectsAtOnce)
            {
                Socket[] some = [.. Enumerable.Range(0, Math.Min(left, ConnectsAtOnce)).Select(static _ =>
                    new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true })];
                load._sockets.AddRange(some);
                await Task.WhenAll(some.Select(socket =>
                    socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, port), cancellation).AsTask()));
            }
        }
        catch
        {
            await load.DisposeAsync();
            throw;
        }

        load._clients = Task.WhenAll(load._sockets.Select(socket => Task.Run(() => load.AskAsync(socket), CancellationToken.None)));
        return load;
    }

    /// <returns>Answers a second; the 99th percentile of the time of a group in microseconds.</returns>
    public async Task<(double Rate, double P99, long Answers)> MeasureAsync(TimeSpan time, CancellationToken cancellation)
    {
        long before = Volatile.Read(ref _answers);
        long start = Stopwatch.GetTimestamp();
        _phase = (int)Phase.Measured;
        await Task.Delay(time, cancellation);
        _phase = (int)Phase.Ended;
        long answers = Volatile.Read(ref _answers) - before;
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        await _clients.WaitAsync(cancellation);
        var all = new LatencyHistogram();
        foreach (LatencyHistogram one in _times.Values)
        {
            all.Add(one);
        }

        return (answers / seconds, all.Percentile(99) / 1000.0, answers);
    }

    public ValueTask DisposeAsync()
    {
        foreach (Socket socket in _sockets)
        {
            socket.Dispose();
        }

        _times.Dispose();
        return ValueTask.CompletedTask;
    }

    private async Task AskAsync(Socket socket)
    {
        byte[] buffer = new byte[LongestAnswer * _pipelined];
        int length = await FirstAnswerAsync(socket, buffer);
        while (_phase != (int)Phase.Ended)
        {
            long start = Stopwatch.GetTimestamp();
            await socket.SendAsync(_group);
            for (int missing = length * _pipelined; missing > 0;)
            {
                missing -= await ReceiveAsync(socket, buffer.AsMemory(0, missing));
            }

            Interlocked.Add(ref _answers, _pipelined);
            if (_phase == (int)Phase.Measured)
            {
                _times.Value!.Record((long)Stopwatch.GetElapsedTime(start).TotalNanoseconds);
            }
        }
    }

    private async Task<int> FirstAnswerAsync(Socket socket, byte[] buffer)
    {
        await socket.SendAsync(_group.AsMemory(0, _group.Length / _pipelined));
        int length = 0;
        while (!buffer.AsSpan(0, length).EndsWith("World!"u8))
        {
            length += await ReceiveAsync(socket, buffer.AsMemory(length));
        }

        return length;
    }

    private static async ValueTask<int> ReceiveAsync(Socket socket, Memory<byte> into)
    {
        int received = await socket.ReceiveAsync(into);
        return received > 0 ? received : throw new InvalidOperationException("The server ended a connection.");
    }
}
