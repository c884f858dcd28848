using System.Diagnostics;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Net.WebSockets;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Settings;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Load;

/// <summary>Makes the connections of a load, so many at a time, and counts what became of them.</summary>
internal sealed class Connector(Address address, IPEndPoint endPoint, LoadState state)
{
    private readonly Lock _gate = new();
    private readonly LatencyHistogram _times = new();
    private int _succeeded;
    private int _failed;
    private int _timedOut;

    public int Succeeded => Volatile.Read(ref _succeeded);

    public int Failed => Volatile.Read(ref _failed);

    public int TimedOut => Volatile.Read(ref _timedOut);

    /// <summary>How long each connection took that was made.</summary>
    public LatencyHistogram Times => _times;

    /// <summary>From the first one's start to the last one's end.</summary>
    public TimeSpan Elapsed { get; private set; }

    public async Task<List<ILoadConnection>> ConnectAllAsync(CancellationToken cancellation)
    {
        ScenarioSettings settings = state.Settings;
        var made = new ILoadConnection?[settings.Connections];
        long start = Stopwatch.GetTimestamp();
        var options = new ParallelOptions { MaxDegreeOfParallelism = settings.ConnectConcurrency, CancellationToken = cancellation };
        await Parallel.ForAsync(0, settings.Connections, options, async (i, token) => made[i] = await ConnectAsync((uint)i, token));
        Elapsed = Stopwatch.GetElapsedTime(start);
        return [.. made.OfType<ILoadConnection>()];
    }

    private async Task<ILoadConnection?> ConnectAsync(uint id, CancellationToken cancellation)
    {
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        deadline.CancelAfter(TimeSpan.FromSeconds(state.Settings.ConnectTimeoutSeconds));
        long start = Stopwatch.GetTimestamp();
        Socket? socket = null;
        try
        {
            socket = new Socket(endPoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            await socket.ConnectAsync(endPoint, deadline.Token);
            ILoadConnection connection = address.IsPlain
                ? new TcpLoadConnection(socket, state, id)
                : new StreamLoadConnection(await WrapAsync(socket, deadline.Token), state, id);
            Interlocked.Increment(ref _succeeded);
            long ticks = Stopwatch.GetTimestamp() - start;
            lock (_gate)
            {
                _times.Record((long)Stopwatch.GetElapsedTime(0, ticks).TotalNanoseconds);
            }

            return connection;
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            socket?.Dispose();
            Interlocked.Increment(ref _timedOut);
            return null;
        }
        catch (Exception e) when (IoStreamErrors.IsOfConnection(e) && !cancellation.IsCancellationRequested)
        {
            socket?.Dispose();
            SocketError error = IoStreamErrors.ErrorOf(e);
            state.CountError(error);
            _ = error == SocketError.TimedOut ? Interlocked.Increment(ref _timedOut) : Interlocked.Increment(ref _failed);
            return null;
        }
    }

    /// <summary>TLS and the WebSocket upgrade, as the address asks for them.</summary>
    private async Task<Stream> WrapAsync(Socket socket, CancellationToken cancellation)
    {
        Stream stream = new NetworkStream(socket, ownsSocket: true);
        if (address.IsTls)
        {
            // Speed is measured here, not trust: the servers' certificates are made for the run.
#pragma warning disable CA5359, MA0039 // The load knows its server: it is another process of this run.
            var tls = new SslStream(stream, leaveInnerStreamOpen: false, static (_, _, _, _) => true);
#pragma warning restore CA5359, MA0039
            await tls.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = address.Host }, cancellation);
            stream = tls;
        }

        if (address.IsWebSocket)
        {
            WebSocket socketOverStream = await WebSocketUpgrade.AsClientAsync(stream, address, cancellation);
            stream = WebSocketStream.Create(socketOverStream, WebSocketMessageType.Binary, ownsWebSocket: true);
        }

        return stream;
    }
}
