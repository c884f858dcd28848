using System.Globalization;
using Net.Zlink.Scenarios.Patterns.Running;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>The ROUTER that is attacked, at one port for each transport. It sends every message back.</summary>
internal sealed class AttackServer : IAsyncDisposable
{
    private static readonly TimeSpan ShutdownLimit = TimeSpan.FromSeconds(1);

    private readonly Certificates _certificates = new();
    private readonly ZlinkContext _context = new(new ZlinkContextOptions { ShutdownTimeout = ShutdownLimit });
    private readonly ZlinkContext _clients =
        new(new ZlinkContextOptions { ShutdownTimeout = ShutdownLimit, DefaultLinger = TimeSpan.Zero });
    private readonly RouterSocket _router;
    private readonly Dictionary<string, string> _endpoints = new(StringComparer.Ordinal);
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _echo;
    private long _received;

    public AttackServer(params IEnumerable<string> transports)
    {
        _router = _context.CreateRouter();
        (_router.Options.Tls.CertificateFile, _router.Options.Tls.KeyFile) = (_certificates.CertificateFile, _certificates.KeyFile);
        foreach (string transport in transports.Distinct(StringComparer.Ordinal))
        {
            _endpoints[transport] = _router.Bind(transport is "ipc" ? "ipc://*" : $"{transport}://127.0.0.1:*");
        }

        _echo = Task.Run(EchoAsync);
    }

    public long Received => Volatile.Read(ref _received);

    public string PortOf(string transport) => new Uri(_endpoints[transport]).Port.ToString(CultureInfo.InvariantCulture);

    /// <summary>A good client that is connecting.</summary>
    public DealerSocket Connect(string transport, byte[]? routingId = null)
    {
        DealerSocket client = _clients.CreateDealer();
        if (routingId is not null)
        {
            client.Options.RoutingId = routingId;
        }

        (client.Options.Tls.CaFile, client.Options.Tls.HostName) = (_certificates.CertificateFile, Certificates.Host);
        client.Connect(_endpoints[transport]);
        return client;
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _echo;
        await _clients.DisposeAsync();
        await _context.DisposeAsync();
        _certificates.Dispose();
        _stop.Dispose();
    }

    private async Task EchoAsync()
    {
        try
        {
            while (true)
            {
                using Message message = await _router.ReceiveAsync(_stop.Token);
                Interlocked.Increment(ref _received);
                _router.To(message.RoutingId).TrySend(message.Memory.Span); // An attacker may have left.
            }
        }
        catch (OperationCanceledException)
        {
            // The round is over.
        }
    }
}
