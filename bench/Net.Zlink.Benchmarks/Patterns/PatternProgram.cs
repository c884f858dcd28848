using System.Diagnostics;
using System.Globalization;

namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>Our side of a comparison, as one process: both sockets in one context, one thread that sends and one that receives.</summary>
/// <param name="What">What is measured.</param>
/// <param name="Counts">How many messages.</param>
/// <param name="Compile">Milliseconds of floods and round trips before everything else, until the runtime has compiled the code for good, which it does in the background. A native program has no such time.</param>
/// <param name="Batch">Receive in batches.</param>
internal sealed record PatternProgram(PatternCase What, PatternCounts Counts, int Compile, bool Batch)
{
    public const string Name = "net-zlink";

    // Short floods, so that the time is kept: at 64 KB a thousand take some 50 ms.
    private const int MessagesToCompile = 1_000;
    private const int RoundTripsToCompile = 100;

    /// <summary>Measures and prints, in the words of the native programs.</summary>
    public void Run()
    {
        using var context = new ZlinkContext();
        switch (What.Pattern)
        {
            case PatternNames.Pair:
                RunDuplex(context.CreatePair(), context.CreatePair());
                break;
            case PatternNames.DealerDealer:
                RunDuplex(context.CreateDealer(), context.CreateDealer());
                break;
            case PatternNames.PubSub:
                RunPubSub(context);
                break;
            case PatternNames.DealerRouter:
                RunDealerRouter(context);
                break;
            default:
                RunRouters(context);
                break;
        }
    }

    private static RouterOptions RouterOptions(ReadOnlySpan<byte> id) => new() { RoutingId = id.ToArray(), Mandatory = true };

    private void RunDuplex(DuplexSocket bound, DuplexSocket connected)
    {
        using (bound)
        using (connected)
        {
            Connect(bound, connected);
            Measure(new DuplexEnds(bound, connected), bound, connected);
        }
    }

    private void RunPubSub(ZlinkContext context)
    {
        // Every message is waited for, so none may be dropped: beyond its limits this publisher waits. The native one has no limit in bytes, and none of its counts reaches its mark.
        using PubSocket publisher = context.CreatePub(new PubOptions { NoDrop = true });
        using SubSocket subscriber = context.CreateSub();
        subscriber.Subscribe("");
        Connect(publisher, subscriber);
        Measure(new PubSubEnds(publisher, subscriber), publisher, subscriber);
    }

    private void RunDealerRouter(ZlinkContext context)
    {
        using RouterSocket router = context.CreateRouter();
        using DealerSocket dealer = context.CreateDealer(new DealerOptions { RoutingId = "CLIENT"u8.ToArray() });
        Connect(router, dealer);
        Measure(new DealerRouterEnds(router, dealer), router, dealer);
    }

    private void RunRouters(ZlinkContext context)
    {
        using RouterSocket bound = context.CreateRouter(RouterOptions(RoutingIds.Bound));
        using RouterSocket connected = context.CreateRouter(RouterOptions(RoutingIds.Connected));
        Connect(bound, connected);
        if (!string.Equals(What.Pattern, PatternNames.RouterRouterPoll, StringComparison.Ordinal))
        {
            Measure(new RouterRouterEnds(bound, connected), bound, connected);
            return;
        }

        using var forth = new Poller();
        using var back = new Poller();
        forth.Add(bound, PollEvents.In);
        back.Add(connected, PollEvents.In);
        Measure(new RouterPollEnds(bound, connected, forth, back), bound, connected);
    }

    private void Connect(ZlinkSocket bound, ZlinkSocket connected)
    {
        string endpoint = bound.Bind(What.Transport switch
        {
            "tcp" => "tcp://127.0.0.1:*",
            "ipc" => "ipc://*",
            _ => "inproc://pattern",
        });
        connected.Connect(endpoint);
        Settling.Rest();
    }

    private void Measure<TEnds>(TEnds ends, params ZlinkSocket[] sockets)
        where TEnds : struct, IPatternEnds
    {
        ends.AwaitConnection();
        using var watch = new StallWatch(sockets);
        var measurement = new PatternMeasurement<TEnds>(ends, What.Size, Batch, watch);
        long start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start).TotalMilliseconds < Compile)
        {
            measurement.Throughput(MessagesToCompile);
            _ = TEnds.HasWayBack ? measurement.Latency(RoundTripsToCompile) : 0;
        }

        measurement.WarmUp(Counts.WarmUp);
        double? latency = TEnds.HasWayBack ? measurement.Latency(Counts.RoundTripsOf(What)) : null;
        double throughput = measurement.Throughput(Counts.MessagesOf(What));
        measurement.Check();
        Print("throughput", throughput);
        if (latency is { } microseconds)
        {
            Print("latency", microseconds);
        }
    }

    private void Print(string figure, double value) =>
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{ResultLines.Prefix}{Name},{What.Pattern},{What.Transport},{What.Size},{figure},{value:F2}"));
}
