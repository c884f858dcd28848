using HdrHistogram;
using Net.Zlink;
using Net.Zlink.Buffers;

namespace EchoServer;

/// <summary>
/// The server itself: one context, one STREAM socket, bound to every endpoint. All that is specific to Net.Zlink is here.
/// </summary>
internal sealed class EchoService : IAsyncDisposable
{
    /// <summary>
    /// How long queued answers may take to leave at the end. Docker kills a container 10 s after SIGTERM; be done before.
    /// </summary>
    private static readonly TimeSpan DrainDeadline = TimeSpan.FromSeconds(8);

    /// <summary>The statistics count the bytes on the wire; people ask for those of their messages.</summary>
    private const int LengthPrefix = 4;

    private readonly ZlinkContext _context;
    private readonly BatchTimer _timer = new();
    private readonly List<string> _endpoints = [];
    private readonly Task _consumer = Task.CompletedTask;
    private readonly PullEcho? _pull;

    /// <summary>
    /// Listens on every endpoint of <paramref name="options"/>, or throws <see cref="CannotListenException"/> and listens on none.
    /// </summary>
    public EchoService(Options options)
    {
        _context = new ZlinkContext(ContextOptionsOf(options));
        Stream = _context.CreateStream(StreamOptionsOf(options));
        var handler = new EchoHandler(_timer);
        foreach (string endpoint in options.Endpoints)
        {
            try
            {
                // Bind returns the endpoint as it really is: with the port that was chosen when 0 was asked for.
                _endpoints.Add(options.Mode == EchoMode.Push ? Stream.Bind(endpoint, handler) : Stream.Bind(endpoint));
            }
            catch (ZlinkException exception)
            {
                _context.Dispose();
                throw new CannotListenException(endpoint, exception);
            }
        }

        if (options.Mode == EchoMode.Pull)
        {
            _pull = new PullEcho(Stream, _timer);
            _consumer = Task.Run(_pull.RunAsync);
        }
    }

    public StreamSocket Stream { get; }

    public IReadOnlyList<string> Endpoints => _endpoints;

    public HistogramBase HandlerTimes => _timer.Times;

    /// <summary>Peers that pull mode disconnected because they did not read.</summary>
    public long CutOff => _pull?.CutOff ?? 0;

    public EchoTotals GetTotals()
    {
        SocketStatistics statistics = Stream.GetStatistics();
        return new EchoTotals
        {
            Connections = statistics.Peers,
            Accepted = statistics.AcceptedConnections - statistics.RefusedConnections,
            Refused = statistics.RefusedConnections,
            MessagesIn = statistics.ReceivedMessages,
            MessagesOut = statistics.WrittenMessages,
            BytesIn = statistics.ReceivedBytes - (statistics.ReceivedMessages * LengthPrefix),
            BytesOut = statistics.WrittenBytes - (statistics.WrittenMessages * LengthPrefix),
            Unanswered = statistics.DroppedUnreadMessages,
        };
    }

    /// <summary>The buffers that are in use right now, and those that the pool keeps for the next ones.</summary>
    public (double Used, double Kept) GetPoolMegabytes()
    {
        BufferPoolStatistics pool = _context.Pool.GetStatistics();
        return (pool.BytesRented / 1e6, pool.BytesKept / 1e6);
    }

    /// <summary>
    /// Stops accepting and reading, sends what is queued, closes every connection in order, and says what could not be delivered.
    /// </summary>
    public async Task<ShutdownReport> StopAsync()
    {
        ShutdownReport report = await _context.ShutdownAsync(DrainDeadline);
        await _consumer;
        return report;
    }

    public ValueTask DisposeAsync() => _context.DisposeAsync();

    private static ZlinkContextOptions ContextOptionsOf(Options options)
    {
        var context = new ZlinkContextOptions { ShardCount = options.ShardCount };
        if (options.Pool == PoolPreset.Server)
        {
            context.PoolOptions.ClassPolicies = BufferPoolOptions.ServerPolicies;
        }

        if (!options.HasFurtherShards)
        {
            context.TlsAndWebSocketShardCount = 0; // So many shards, whatever the transport.
        }

        return context;
    }

    private static StreamOptions StreamOptionsOf(Options options)
    {
        var stream = new StreamOptions
        {
            MaxConnections = options.MaxConnections > 0 ? options.MaxConnections : null,

            // Only where somebody asks for it by an address in brackets: with it tcp://* listens on both families.
            IPv6 = options.Endpoints.Any(static endpoint => endpoint.Contains('[', StringComparison.Ordinal)),

            // After Ctrl-C a client that ignores our end of the connection holds the server up for no longer than this.
            CloseTimeout = TimeSpan.FromSeconds(1),

            // PullEcho never blocks, so the shard that has read a message may run it, and no message is handed from thread to thread.
            AllowSynchronousContinuations = true,
        };
        if (options.MaxMessageSize is long size)
        {
            stream.MaxMessageSize = size;
        }

        stream.Tls.CertificateFile = options.CertificateFile;
        stream.Tls.KeyFile = options.KeyFile;

        return stream;
    }
}
