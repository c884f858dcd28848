using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A list with 20,000 endpoints where nobody is, behind them an honest receiver that comes last.</summary>
internal sealed class DeadEndpointsRow(string what, bool isSwallowed) : AttackRow($"services-dead-{what}")
{
    private const int Dead = 20_000;
    private const double LeastShare = 0.8;
    private const double LongestP99 = 50;
    private const double NanosecondsPerMillisecond = 1_000_000;
    private const int P99 = 99;

    private static readonly TimeSpan s_warm = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_between = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_readyLimit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    public static IEnumerable<DeadEndpointsRow> All { get; } = [new("refused", false), new("swallowed", true)];

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        using var hole = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using var filling = new CompositeDisposable();
        int port = MakeHole(hole, filling);
        await using var servers = new ZlinkContext();
        await using var first = new HonestReceiver(servers);
        await using var last = new HonestReceiver(servers);
        await using var context = new ZlinkContext();
        var directory = new StaticDirectory(Listed(first));
        var gateway = new ServiceGateway(context, directory);
        ServiceClient client = gateway.GetClient(VictimCommand.Service);
        await client.WaitUntilReadyAsync(cancellationToken: cancellation);
        (double before, _) = await LoadAsync(client, s_warm, cancellation);

        ServiceInstance[] dead = [.. Enumerable.Range(0, Dead)
            .Select(at => new ServiceInstance(VictimCommand.Service, $"tcp://127.1.{at >> 8}.{at & 0xFF}:{port}"))];
        directory.SetService(VictimCommand.Service, [Listed(first), .. dead]);
        (double during, LatencyHistogram times) = await LoadAsync(client, time, cancellation);
        directory.SetService(VictimCommand.Service, [Listed(first), .. dead, Listed(last)]);
        double ready = await SecondsAsync(token => client.WaitUntilReadyAsync(2, token).AsTask(), cancellation);
        int descriptors = Directory.GetFiles("/proc/self/fd").Length;
        double disposed = await SecondsAsync(token => gateway.DisposeAsync().AsTask().WaitAsync(token), cancellation);
        return
        [
            new("requests, share of the rate before", during / before, LeastShare, AtLeast: true),
            new("requests, p99, ms", times.Count == 0 ? double.NaN : times.Percentile(P99) / NanosecondsPerMillisecond, LongestP99),
            new("seconds until one that was listed last is ready", ready, s_readyLimit.TotalSeconds),
            new("seconds of disposal", disposed, s_readyLimit.TotalSeconds),
            new("descriptors", descriptors, null),
        ];
    }

    private static ServiceInstance Listed(HonestReceiver receiver) => new(VictimCommand.Service, receiver.Endpoint);

    /// <summary>A port where nobody listens, or one whose queue is full, so that nobody answers.</summary>
    private int MakeHole(Socket hole, CompositeDisposable filling)
    {
        hole.Bind(new IPEndPoint(IPAddress.Any, 0));
        int port = ((IPEndPoint)hole.LocalEndPoint!).Port;
        if (isSwallowed)
        {
            hole.Listen(1);
            for (int i = 0; i < 4; i++)
            {
                var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { Blocking = false };
                filling.Add(client);
                try
                {
                    client.Connect(IPAddress.Loopback, port);
                }
                catch (SocketException)
                {
                    // It is on its way.
                }
            }
        }

        return port;
    }

    private static async Task<(double Rate, LatencyHistogram Times)> LoadAsync(
        ServiceClient client, TimeSpan time, CancellationToken cancellation)
    {
        var times = new LatencyHistogram();
        long answered = 0;
        long start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start) < time)
        {
            long begin = Stopwatch.GetTimestamp();
            try
            {
                using ServiceReply reply = await client.RequestAsync(new byte[64], s_timeout, cancellation);
                answered++;
            }
            catch (Exception e) when (e is ServiceException or TimeoutException)
            {
                // It counts by its time.
            }

            times.Record((long)Stopwatch.GetElapsedTime(begin).TotalNanoseconds);
            await Task.Delay(s_between, cancellation);
        }

        return (answered / Stopwatch.GetElapsedTime(start).TotalSeconds, times);
    }

    private static async Task<double> SecondsAsync(Func<CancellationToken, Task> wait, CancellationToken cancellation)
    {
        long start = Stopwatch.GetTimestamp();
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(s_patience);
        try
        {
            await wait(limit.Token);
            return Stopwatch.GetElapsedTime(start).TotalSeconds;
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return double.NaN;
        }
    }

    private sealed class CompositeDisposable : IDisposable
    {
        private readonly List<IDisposable> _parts = [];

        public void Add(IDisposable part) => _parts.Add(part);

        public void Dispose() => _parts.ForEach(static part => part.Dispose());
    }
}
