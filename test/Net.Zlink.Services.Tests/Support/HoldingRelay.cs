using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Services.Tests;

/// <summary>Stands between one connecting and one bound tcp endpoint; keeps what the connecting side sends while it is told to.</summary>
internal sealed class HoldingRelay : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly Socket _far = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly EndPoint _target;
    private Socket? _near;
    private TaskCompletionSource _open = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _held;

    public HoldingRelay(string boundEndpoint)
    {
        _target = RawPeer.EndPointOf(boundEndpoint);
        _open.SetResult();
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        _ = RunAsync();
    }

    public string Endpoint => $"tcp://{_listener.LocalEndPoint}";

    /// <summary>What came since <see cref="Hold"/>.</summary>
    public long HeldBytes => Volatile.Read(ref _held);

    public void Hold() => Volatile.Write(ref _open, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));

    public void Release() => Volatile.Read(ref _open).TrySetResult();

    public void Dispose()
    {
        _listener.Dispose();
        _near?.Dispose();
        _far.Dispose();
        Release();
    }

    private async Task RunAsync()
    {
        try
        {
            _near = await _listener.AcceptAsync();
            _near.NoDelay = true;
            await _far.ConnectAsync(_target);
            await Task.WhenAll(PumpAsync(_near, _far, holds: true), PumpAsync(_far, _near, holds: false));
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The test is over.
        }
    }

    private async Task PumpAsync(Socket from, Socket to, bool holds)
    {
        byte[] buffer = new byte[32 * 1024];
        while (true)
        {
            int count = 0;
            int read;
            do
            {
                read = await from.ReceiveAsync(buffer.AsMemory(count));
                count += read;
                if (holds && !Volatile.Read(ref _open).Task.IsCompleted)
                {
                    Interlocked.Add(ref _held, read);
                }
            }
            while (holds && read > 0 && !Volatile.Read(ref _open).Task.IsCompleted && from.Available > 0 && count < buffer.Length);

            if (holds)
            {
                // Whatever else comes waits in the system, which has room for it.
                await Volatile.Read(ref _open).Task;
            }

            if (count == 0)
            {
                to.Shutdown(SocketShutdown.Send);
                return;
            }

            for (int sent = 0; sent < count;)
            {
                sent += await to.SendAsync(buffer.AsMemory(sent, count - sent));
            }
        }
    }
}
