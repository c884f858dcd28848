using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Time.Testing;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>What a host that stops waits for, on a clock that the test moves.</summary>
public sealed class DrainTests : IAsyncDisposable
{
    private const int Jobs = 9;
    private const int StoppedListening = 3;
    private const int WaitsForTheApplication = 13;

    private static readonly TimeSpan PerJob = TimeSpan.FromMilliseconds(500);

    private readonly HostFixture _host = new();
    private readonly FakeTimeProvider _clock = new();
    private readonly List<IDisposable> _clients = [];

    public DrainTests() => _host.Services.AddSingleton<TimeProvider>(_clock);

    public static TheoryData<string> Receiving => ["PAIR", "DEALER", "ROUTER", "SUB", "XSUB", "XPUB", "STREAM"];

    [Theory]
    [MemberData(nameof(Receiving))]
    public async Task A_worker_that_needs_500_ms_for_each_message_receives_all_that_had_come_before_the_host_stops(string type)
    {
        Func<CancellationToken, Task> receive = Register(type);
        var worker = new Worker(receive, _clock);
        _host.Services.AddSingleton<IHostedService>(worker);
        await _host.StartAsync();
        await SendJobsAsync(type);
        await Guard.UntilAsync(
            () => Figures(type) is { Unread: Jobs - 1, Delivered: 1 } && worker.IsBusy, "one job is at work and the others wait");

        Task stopped = await BeginStopAsync();
        for (int i = 1; i <= Jobs; i++)
        {
            _clock.Advance(PerJob);
            await Guard.UntilAsync(() => worker.Finished == i && (i == Jobs || worker.IsBusy), $"job {i} is done and the next one begun");
        }

        await EndAsync(stopped);
        Assert.DoesNotContain(_host.Log, static line => line.Message.Contains("has not received", StringComparison.Ordinal));
    }

    [Fact]
    public void A_host_that_waits_for_ever_has_all_time_for_its_drain()
    {
        var clock = new DrainClock(TimeProvider.System, Timeout.InfiniteTimeSpan);
        Assert.Equal((Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan), (clock.Left, clock.Half));
    }

    [Fact]
    public async Task A_worker_that_receives_no_more_is_waited_for_half_of_the_time_and_the_log_says_what_is_left()
    {
        Func<CancellationToken, Task> receive = Register("ROUTER");
        await _host.StartAsync();
        await SendJobsAsync("ROUTER");
        await receive(Guard.Token).Guarded();
        await Guard.UntilAsync(() => Figures("ROUTER").Unread == Jobs - 1, "the others wait");
        Task stopped = await BeginStopAsync();
        _clock.Advance(TimeSpan.FromSeconds(13));
        await EndAsync(stopped);
        string milliseconds =
            Assert.Single(_host.Log, static line => line.Id.Id == StoppedListening).GetStructuredStateValue("Milliseconds")!;
        Assert.InRange(double.Parse(milliseconds, CultureInfo.InvariantCulture), 14_000, double.MaxValue);
        Assert.Contains(_host.Log, static line =>
            line.Message is "ROUTER \"jobs\" ends with 8 messages that the application has not received");
    }

    [Fact]
    public async Task A_socket_that_nobody_ever_received_from_is_not_waited_for()
    {
        Register("ROUTER");
        await _host.StartAsync();
        await SendJobsAsync("ROUTER");
        await Guard.UntilAsync(() => Figures("ROUTER").Unread == Jobs, "all wait");
        Task stopped = await BeginStopAsync();
        _clock.Advance(TimeSpan.FromMilliseconds(200));
        await Guard.UntilAsync(() => _host.Log.Any(static line => line.Id.Id == StoppedListening), "the socket is given up");
        await EndAsync(stopped);
    }

    public ValueTask DisposeAsync()
    {
        _clients.ForEach(static one => one.Dispose());
        return _host.DisposeAsync();
    }

    private async Task<Task> BeginStopAsync()
    {
        Task stopped = _host.StopAsync();
        await Guard.UntilAsync(
            () => _host.Log.Any(static line => line.Id.Id == WaitsForTheApplication), "the host waits for the application");
        return stopped;
    }

    private async Task EndAsync(Task stopped)
    {
        await Guard.UntilAsync(
            () =>
            {
                _clock.Advance(TimeSpan.FromMilliseconds(10));
                return stopped.IsCompleted;
            },
            "the host has stopped");
        await stopped;
    }

    private Func<CancellationToken, Task> Register(string type)
    {
        const string Endpoint = "inproc://jobs";
        IServiceCollection services = _host.Services;
        _ = type switch
        {
            "PAIR" => (object)services.AddZlinkPair("jobs", Endpoint),
            "DEALER" => services.AddZlinkDealer("jobs", bind: Endpoint),
            "ROUTER" => services.AddZlinkRouter("jobs", Endpoint),
            "SUB" => services.AddZlinkSub("jobs", bind: Endpoint).Subscribe(""),
            "XSUB" => services.AddZlinkXSub("jobs", bind: Endpoint),
            "XPUB" => services.AddZlinkXPub("jobs", Endpoint),
            _ => services.AddZlinkStream("tcp://127.0.0.1:*", name: "jobs"),
        };
        return type is "STREAM" ? ReceiveDataAsync
            : async token => (await ((ReceivingSocket)SocketOf(type)).ReceiveAsync(token)).Dispose();
    }

    private async Task ReceiveDataAsync(CancellationToken token)
    {
        while (true)
        {
            using StreamMessage message = await Socket<StreamSocket>("jobs").ReceiveAsync(token);
            if (message.Kind == StreamMessageKind.Data)
            {
                return;
            }
        }
    }

    private ZlinkSocket SocketOf(string type) => type switch
    {
        "PAIR" => Socket<PairSocket>("jobs"),
        "DEALER" => Socket<DealerSocket>("jobs"),
        "ROUTER" => Socket<RouterSocket>("jobs"),
        "SUB" => Socket<SubSocket>("jobs"),
        "XSUB" => Socket<XSubSocket>("jobs"),
        "XPUB" => Socket<XPubSocket>("jobs"),
        _ => Socket<StreamSocket>("jobs"),
    };

    private T Socket<T>(string name)
        where T : ZlinkSocket => _host.Get<T>(name);

    private SocketFigures Figures(string type) => SocketFigures.Of(SocketOf(type));

    /// <summary>Each job is one message; of an XPUB a subscription.</summary>
    private async Task SendJobsAsync(string type)
    {
        ZlinkContext context = _host.Get<ZlinkContext>();
        switch (type)
        {
            case "STREAM":
                var endPoint = IPEndPoint.Parse(SocketOf(type).LastEndpoint["tcp://".Length..]);
                var stream = new TcpClient();
                _clients.Add(stream);
                await stream.ConnectAsync(endPoint, Guard.Token);
                for (int i = 0; i < Jobs; i++)
                {
                    await stream.GetStream().WriteAsync(new byte[] { 0, 0, 0, 1, (byte)i }, Guard.Token);
                }

                break;
            case "XPUB":
                SubSocket subscriber = Connected(context.CreateSub());
                for (int i = 0; i < Jobs; i++)
                {
                    subscriber.Subscribe($"topic {i}");
                }

                break;
            case "SUB" or "XSUB":
                XPubSocket publisher = Connected(context.CreateXPub());
                if (SocketOf(type) is XSubSocket all)
                {
                    await all.SendAsync("\u0001", Guard.Token).AsTask().Guarded();
                }

                (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
                await SendAsync(() => publisher.SendAsync("job", Guard.Token).AsTask());
                break;
            case "PAIR":
                PairSocket pair = Connected(context.CreatePair());
                await SendAsync(() => pair.SendAsync("job", Guard.Token).AsTask());
                break;
            default:
                DealerSocket dealer = Connected(context.CreateDealer());
                await SendAsync(() => dealer.SendAsync("job", Guard.Token).AsTask());
                break;
        }
    }

    private static async Task SendAsync(Func<Task> send)
    {
        for (int i = 0; i < Jobs; i++)
        {
            await send().Guarded();
        }
    }

    private T Connected<T>(T socket)
        where T : ZmpSocket
    {
        _clients.Add(socket);
        socket.Connect("inproc://jobs");
        return socket;
    }

    /// <summary>Finishes the job at hand, whatever the host does.</summary>
    private sealed class Worker(Func<CancellationToken, Task> receive, TimeProvider clock) : BackgroundService
    {
        private volatile bool _isBusy;
        private volatile int _finished;

        public int Finished => _finished;

        /// <summary>It waits for the clock.</summary>
        public bool IsBusy => _isBusy;

        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            while (true)
            {
                await receive(stoppingToken);
                Task done = Task.Delay(PerJob, clock, CancellationToken.None);
                _isBusy = true;
                await done;
                _isBusy = false;
                _finished++;
            }
        }
    }
}
