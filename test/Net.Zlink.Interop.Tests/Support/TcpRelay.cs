using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Interop.Tests.Support;

/// <summary>
/// Stands between a connecting and a bound endpoint on tcp, or on what lies above it, hands bytes on, and can stop handing on or cut the
/// connection. While it is frozen, new connections
/// are taken by the kernel and hear nothing.
/// </summary>
internal sealed class TcpRelay : IAsyncDisposable
{
    private readonly Uri _bound;
    private readonly IPEndPoint _target;
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly CancellationTokenSource _ended = new();
    private readonly Lock _gate = new();
    private readonly List<Socket> _sockets = [];
    private readonly List<Task> _tasks = [];
    private readonly long[] _chunks = new long[2];
    private volatile TaskCompletionSource _thawed = Completed();
    private TaskCompletionSource _moved = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public TcpRelay(string boundEndpoint)
    {
        _bound = new Uri(boundEndpoint);
        _target = new IPEndPoint(IPAddress.Parse(_bound.Host), _bound.Port);
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        _tasks.Add(AcceptAsync());
    }

    /// <summary>Where to connect.</summary>
    public string Endpoint => $"{_bound.Scheme}://{_listener.LocalEndPoint}{_bound.AbsolutePath.TrimEnd('/')}";

    /// <summary>Stops handing on, both ways; nothing is lost.</summary>
    public void Freeze()
    {
        lock (_gate)
        {
            if (_thawed.Task.IsCompleted)
            {
                _thawed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            }
        }
    }

    public void Thaw() => _thawed.TrySetResult();

    /// <summary>Resets both ends of every connection; what was under way is lost.</summary>
    public void Cut()
    {
        lock (_gate)
        {
            foreach (Socket socket in _sockets)
            {
                socket.LingerState = new LingerOption(enable: true, seconds: 0); // so that closing resets
                socket.Dispose();
            }

            _sockets.Clear();
        }
    }

    /// <summary>Waits until so many further reads were handed on in each direction.</summary>
    public async Task WaitForTrafficAsync(int chunks)
    {
        long[] from = [Interlocked.Read(ref _chunks[0]), Interlocked.Read(ref _chunks[1])];
        while (true)
        {
            Task moved = Volatile.Read(ref _moved).Task;
            if (Interlocked.Read(ref _chunks[0]) - from[0] >= chunks && Interlocked.Read(ref _chunks[1]) - from[1] >= chunks)
            {
                return;
            }

            await moved.Guarded();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _ended.CancelAsync();
        _listener.Dispose();
        Cut();
        Thaw();
        Task[] tasks;
        lock (_gate)
        {
            tasks = [.. _tasks];
        }

        await Task.WhenAll(tasks).WaitAsync(Limits.Wait, CancellationToken.None);
        _ended.Dispose();
    }

    private static TaskCompletionSource Completed()
    {
        var source = new TaskCompletionSource();
        source.SetResult();
        return source;
    }

    private async Task AcceptAsync()
    {
        while (!_ended.IsCancellationRequested)
        {
            try
            {
                Socket accepted = await _listener.AcceptAsync(_ended.Token);
                await _thawed.Task.WaitAsync(_ended.Token);
                lock (_gate)
                {
                    _tasks.Add(RelayAsync(accepted));
                }
            }
            catch (Exception e) when (IsEnd(e))
            {
                return;
            }
        }
    }

    [SuppressMessage("Reliability", "CA2000", Justification = "Disposed here or in Cut.")]
    private async Task RelayAsync(Socket accepted)
    {
        var dialled = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        accepted.NoDelay = true;
        lock (_gate)
        {
            _sockets.AddRange([accepted, dialled]);
        }

        try
        {
            await dialled.ConnectAsync(_target, _ended.Token);
            await Task.WhenAll(PumpAsync(accepted, dialled, 0), PumpAsync(dialled, accepted, 1));
        }
        catch (Exception e) when (IsEnd(e))
        {
            // The target refuses, or the relay was cut: the connecting end sees its connection go.
        }
        finally
        {
            Close(accepted, dialled);
        }
    }

    private async Task PumpAsync(Socket from, Socket to, int direction)
    {
        byte[] buffer = new byte[64 * 1024];
        try
        {
            while (true)
            {
                await _thawed.Task.WaitAsync(_ended.Token);
                int count = await from.ReceiveAsync(buffer, SocketFlags.None, _ended.Token);
                await _thawed.Task.WaitAsync(_ended.Token);
                if (count == 0)
                {
                    to.Shutdown(SocketShutdown.Send); // what goes the other way may go on
                    return;
                }

                for (int sent = 0; sent < count;)
                {
                    sent += await to.SendAsync(buffer.AsMemory(sent, count - sent), SocketFlags.None, _ended.Token);
                }

                Interlocked.Increment(ref _chunks[direction]);
                Interlocked.Exchange(ref _moved, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).SetResult();
            }
        }
        catch (Exception e) when (IsEnd(e))
        {
            Close(from, to);
        }
    }

    private void Close(params ReadOnlySpan<Socket> sockets)
    {
        lock (_gate)
        {
            foreach (Socket socket in sockets)
            {
                _sockets.Remove(socket);
                socket.Dispose();
            }
        }
    }

    private static bool IsEnd(Exception e) => e is SocketException or ObjectDisposedException or OperationCanceledException;
}
