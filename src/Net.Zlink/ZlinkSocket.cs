using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>What all sockets have in common: endpoints, options, events, and their end.</summary>
/// <remarks>Safe for any number of threads.</remarks>
public abstract class ZlinkSocket : IDisposable, IAsyncDisposable
{
    private string _lastEndpoint = "";

    private protected ZlinkSocket(ZlinkContext context, SocketOptions options)
    {
        Context = context;
        Options = options;
    }

    /// <summary>The options.</summary>
    public SocketOptions Options { get; }

    /// <summary>The endpoint of the last successful bind, with what the system filled in, or the text of the last successful connect, but
    /// for one that found its endpoint there already. Empty before.</summary>
    public string LastEndpoint => Volatile.Read(ref _lastEndpoint);

    /// <summary>What is bound now, with what the system filled in: a snapshot, in no order.</summary>
    public IReadOnlyList<string> BoundEndpoints => EndpointStatus.TextsOf(Endpoints, areBound: true);

    /// <summary>What this side connects to now, connected or not, as it was given to Connect or ConnectAsync: a snapshot. Over inproc one
    /// for each connect.</summary>
    public IReadOnlyList<string> ConnectedEndpoints => EndpointStatus.TextsOf(Endpoints, areBound: false);

    /// <summary>The number of peers.</summary>
    public abstract int PeerCount { get; }

    /// <summary>A message can be received now.</summary>
    public abstract bool CanReceive { get; }

    /// <summary>A send would not have to wait now, as far as that can be said without a peer: the send itself says.</summary>
    public abstract bool CanSend { get; }

    private protected ZlinkContext Context { get; }

    private protected abstract SocketMonitors Monitors { get; }

    private protected abstract EndpointStatus[] Endpoints { get; }

    /// <summary>Listens for peers.</summary>
    /// <param name="endpoint">tcp://host:port (host an address, a name, an interface or *; port 0 or * for any free one), ipc://path,
    /// ipc://@name, ipc://*, inproc://name, tls://host:port, ws://host:port/path, or wss://host:port/path. A listener over tls or wss needs
    /// a certificate first, in <see cref="SocketOptions.Tls"/>.</param>
    /// <returns>The endpoint with the real port and the numeric address, over ws and wss the host as it was written; or the path.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">InvalidArgument, ProtocolNotSupported, NoDevice, AddressInUse, TooManySockets, NoThread ...; the
    /// message says what to do. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public abstract string Bind(string endpoint);

    /// <summary>Stops listening at an endpoint and ends the peers that came in by it (of inproc, which stay, only the name is freed). What
    /// they sent and is unread can still be received; a PAIR takes the next peer when it is.</summary>
    /// <param name="endpoint">The text given to Bind, or the one it returned.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">NotFound: there is no such endpoint. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public abstract void Unbind(string endpoint);

    /// <summary>Stops listening at an endpoint and keeps the peers that came in by it: for a server that drains before it ends.
    /// <see cref="Unbind"/> ends them as well.</summary>
    /// <remarks>Peers whose TLS or WebSocket handshake is under way are not taken any more. After it the address is free, and
    /// <see cref="Unbind"/> does not know the endpoint any more: the peers end with the socket, or one by one.</remarks>
    /// <param name="endpoint">The text given to Bind, or the one it returned.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">NotFound: nothing is bound by that text. InvalidArgument, ProtocolNotSupported: nothing can be.
    /// ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public abstract void StopListening(string endpoint);

    /// <summary>Ends a connection that Connect or ConnectAsync made. What was accepted is delivered within
    /// <see cref="SocketOptions.Linger"/>; unread messages of it are dropped.</summary>
    /// <param name="endpoint">The text given to Connect; of tcp and tls, where that has an address in numbers, also a name of it.</param>
    /// <exception cref="ArgumentNullException"><paramref name="endpoint"/> is null.</exception>
    /// <exception cref="ZlinkException">NotFound: there is no such endpoint. ContextTerminated.</exception>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public abstract void Disconnect(string endpoint);

    /// <summary>Begins to watch this socket's events.</summary>
    /// <param name="mask">Which.</param>
    /// <returns>A monitor of its own; dispose it when it is not needed any more.</returns>
    public SocketMonitor OpenMonitor(SocketEventTypes mask = SocketEventTypes.All) => Monitors.Open(mask);

    /// <summary>Calls back for this socket's events: in order, one at a time, on the thread pool and never on a shard, so that the callback
    /// may block. What it throws is logged.</summary>
    /// <param name="mask">Which events.</param>
    /// <param name="handler">The callback. When it is slower than the events, the oldest are dropped, as for a monitor that is not
    /// read.</param>
    /// <returns>Dispose it to end the calls; one that runs already may go on. Ends by itself with the socket, after
    /// <see cref="SocketEventTypes.MonitorStopped"/>.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="handler"/> is null.</exception>
    public IDisposable OnEvent(SocketEventTypes mask, Action<SocketEvent> handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return new EventCallback(Monitors.Open(mask), handler, Context.Host.Logger);
    }

    /// <summary>Endpoints, counts and peers as text of several lines, for a log or a debugger. Made for people: its form may
    /// change.</summary>
    /// <returns>The text.</returns>
    public abstract string Describe();

    /// <summary>
    /// Ends the socket and returns at once: nothing more is accepted or received; what Send accepted goes on being written in the
    /// background, for at most <see cref="SocketOptions.Linger"/>, and the context's shutdown waits for it. Idempotent.
    /// </summary>
    public void Dispose()
    {
        BeginClose(DisconnectReason.Local, Options.LingerTime);
        GC.SuppressFinalize(this);
    }

    /// <summary>As <see cref="Dispose"/>: returns at once.</summary>
    /// <returns>A completed task.</returns>
    public ValueTask DisposeAsync()
    {
        Dispose();
        GC.SuppressFinalize(this);
        return ValueTask.CompletedTask;
    }

    /// <summary>A disposed socket, or one whose context was shut down, does nothing more.</summary>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated.</exception>
    internal abstract void ThrowIfEnded();

    /// <summary>This socket as an item of a poller.</summary>
    internal abstract PollItem Polled(PollEvents events, object? userState);

    private protected abstract void BeginClose(DisconnectReason reason, TimeSpan linger);

    private protected void SetLastEndpoint(string endpoint) => Volatile.Write(ref _lastEndpoint, endpoint);
}
