using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>
/// The books, while a relay cuts the connection at random bytes and low marks stop or drop what is sent. Sender: accepted = written +
/// dropped + queued. Receiver: read = delivered + dropped + unread.
/// Written but not read is at most one run of whole messages per cut; nothing comes twice, torn or out of order, with one exception: a
/// DEALER or XPUB that accepts does not know its peer's next connection from
/// another peer's. Where its mark stopped it from reading it has not seen the loss of the old one yet, and takes from both in turn. There
/// each connection brings its own run, whole and in order. Such a DEALER also sends to both in turn.
/// </summary>
[SuppressMessage("Security", "CA5394", Justification = "Chance that can be repeated is wanted here.")]
public sealed class CountersTests
{
    private const int Cuts = 25;
    private const int Messages = 2_000;
    private const int Mark = 50;
    private static readonly byte[] Name = "B"u8.ToArray();

    // With NoDrop a publisher drops nothing at its mark, and only cuts are left as causes of gaps.
    private static readonly string[] Types = ["PAIR", "DEALER", "ROUTER", "PUB", "XPUB", "PUB NoDrop", "XPUB NoDrop"];

    public static TheoryData<string, string, int> Cases =>
        new(SlowTests.Some(from type in Types
                           from one in (
            (string, int)[])[("tcp://127.0.0.1:0", 1), ("tcp://127.0.0.1:0", 2), ("tcp://127.0.0.1:0", 3), ("ipc://*", 4)]
                           select (
            type, one.Item1, one.Item2), every: 3));

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task Counters_balance_when_the_connection_is_cut_at_random_bytes(string type, string endpoint, int seed)
    {
        await using var fixture = new ContextFixture();
        var random = new Random(seed);

        // The first bytes are the handshake: some connections do not get over it.
        int[] budgets = [.. Enumerable.Range(0, Cuts).Select(_ => random.Next(5) == 0 ? random.Next(60) : random.Next(100_000))];
        (ZmpSocket binder, ZmpSocket connecter) = Create(fixture, type);
        await using var relay = new CuttingRelay(binder.Bind(endpoint), budgets);
        connecter.Connect(relay.Endpoint);
        var down = new Flow(fixture, 1, binder, connecter, isAccepting: false, () => relay.Cuts == Cuts);
        Flow? up = connecter is DuplexSocket or XSubSocket
            ? new Flow(fixture, 2, connecter, binder, isAccepting: true, () => relay.Cuts == Cuts) : null;
        await Task.WhenAll(down.RunAsync(), up?.RunAsync() ?? Task.CompletedTask);
        binder.Dispose();
        connecter.Dispose();
        await fixture.UntilAsync(() => Queued(binder) + Queued(connecter) == 0);
        Assert.Equal(Cuts, relay.Cuts);
        await down.AssertBalanceAsync(Cuts);
        await (up?.AssertBalanceAsync(Cuts) ?? Task.CompletedTask);
    }

    [Theory]
    [InlineData("PAIR")]
    [InlineData("DEALER")]
    [InlineData("ROUTER")]
    [InlineData("PUB")]
    [InlineData("XPUB")]
    public async Task Counters_balance_when_a_shutdown_finds_full_queues_and_the_report_agrees(string type)
    {
        var fixture = new ContextFixture();
        (ZmpSocket binder, ZmpSocket connecter) = Create(fixture, type);
        connecter.Connect(binder.Bind("tcp://127.0.0.1:0"));
        await fixture.UntilAsync(() => binder.GetPeers().Any(static p => p.IsConnected) && (type[^1] != 'B' || Topics(binder) > 0));
        var sender = Flow.SendingOf(binder);
        int sent = 0;
        int marked = 0;
        for (int i = 0; i < 200 && marked < 5; i++)
        {
            // Not read at the other end: the marks and the kernel fill up.
            marked = sender(Wire.Huge) ? 0 : marked + 1;
            sent += marked == 0 ? 1 : 0;
            await fixture.SettleAsync();
        }

        ShutdownReport report = await fixture.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded();
        SocketStatistics counters = binder.GetStatistics();
        Assert.Equal(sent - counters.DroppedAtHighWaterMark, counters.AcceptedMessages);
        Assert.True(counters.DroppedMessages > 0, "nothing was left to be dropped");
        Assert.Equal((0, counters.AcceptedMessages), (counters.QueuedMessages, counters.WrittenMessages + counters.DroppedMessages));
        Assert.Equal(counters.DroppedMessages, report.UndeliveredMessages);
        SocketStatistics there = connecter.GetStatistics();
        Assert.Equal((there.ReceivedMessages, 0),
            (there.DeliveredMessages + there.DroppedUnreadMessages + there.FilteredMessages, there.UnreadMessages));
        await fixture.DisposeAsync();
    }

    /// <summary>The one that binds is made first: so a shutdown ends it first, and not behind a peer that throws away what comes by
    /// then.</summary>
    private static (ZmpSocket Binder, ZmpSocket Connecter) Create(ContextFixture fixture, string type)
    {
        ZlinkContext context = fixture.Context;
        bool noDrop = type.EndsWith(" NoDrop", StringComparison.Ordinal);
        switch (type.Split(' ')[0])
        {
            case "PAIR":
                return (context.CreatePair(Low(new PairOptions())), context.CreatePair(Low(new PairOptions())));
            case "DEALER":
                return (context.CreateDealer(Low(new DealerOptions())), context.CreateDealer(Low(new DealerOptions())));
            case "ROUTER":
                return (context.CreateRouter(Low(new RouterOptions { Mandatory = true })),
                    context.CreateDealer(Low(new DealerOptions { RoutingId = Name })));
            case "PUB":
                PubSocket pub = context.CreatePub(Low(new PubOptions { NoDrop = noDrop }));
                SubSocket sub = context.CreateSub(Low(new SubOptions()));
                sub.Subscribe([]);
                return (pub, sub);
            default:
                XPubSocket xpub = context.CreateXPub(Low(new XPubOptions { NoDrop = noDrop }));
                XSubSocket xsub = context.CreateXSub(Low(new XSubOptions()));
                xsub.Send([1]);
                return (xpub, xsub);
        }
    }

    private static T Low<T>(T options)
        where T : ZmpSocketOptions
    {
        options.SendHighWaterMark = Mark;
        options.ReceiveHighWaterMark = Mark;
        options.ReconnectInterval = TimeSpan.FromMilliseconds(1);
        options.Linger = TimeSpan.Zero;
        return options;
    }

    private static long Queued(ZmpSocket socket) => socket.GetStatistics().QueuedMessages;

    private static int Topics(ZmpSocket socket) => (socket as PubSocket)?.TopicCount ?? (socket as XPubSocket)?.TopicCount ?? 0;

    /// <summary>Numbered messages from one socket to another, and what became of them.</summary>
    private sealed class Flow(ContextFixture fixture, int sender, ZmpSocket from, ZmpSocket to, bool isAccepting, Func<bool> areCutsOver)
    {
        // What goes up from an XSUB must not look like a subscription.
        private static readonly byte[] Topic = "t"u8.ToArray();
        private readonly MessageBuilder _builder = new();
        private readonly Dictionary<object, Run> _runs = [];
        private readonly bool _takesTurns = isAccepting && to is (DealerSocket or XPubSocket);
        private readonly bool _mayDrop = from is PubSocket { Options.NoDrop: false }
            || (from as XPubSocket ?? to as XPubSocket) is { Options.NoDrop: false };
        private int _sent;
        private int _received;
        private int _last = -1;
        private Task? _receiving;

        public static Func<byte[], bool> SendingOf(ZmpSocket socket) => socket switch
        {
            DuplexSocket duplex => payload => duplex.TrySend(payload),
            RouterSocket router => payload => router.To(Name).TrySend(payload),
            PubSocket pub => payload => pub.TrySend(payload),
            _ => payload => ((XPubSocket)socket).TrySend(payload),
        };

        /// <summary>Sends for as long as connections are cut, then until one arrives, and with it all that ever will.</summary>
        public async Task RunAsync()
        {
            if (to is ReceivingSocket receiver)
            {
                _receiving = ReceiveAsync(receiver);
            }

            long started = TimeProvider.System.GetTimestamp();
            while (_sent < Messages || !areCutsOver() || (_receiving is not null && Volatile.Read(ref _last) < _sent - 1))
            {
                if (_receiving is { IsFaulted: true })
                {
                    await _receiving; // What it found wrong is the failure, not that nothing comes after it.
                }

                if (TimeProvider.System.GetElapsedTime(started) >= 2 * Guard.Limit)
                {
                    Assert.Fail($"{_sent} were sent, {_received} came, the last of them {_last}; all cuts made: "
                        + $"{areCutsOver()}\n{from.Describe()}\n{to.Describe()}");
                }

                if (_sent < Messages || !areCutsOver())
                {
                    await SendAsync();
                }
                else
                {
                    await SendAsync();
                    for (int i = 0; i < 50 && Volatile.Read(ref _last) < _sent - 1; i++)
                    {
                        await fixture.SettleAsync();
                    }
                }
            }
        }

        public async Task AssertBalanceAsync(int cuts)
        {
            await (_receiving ?? Task.CompletedTask).Guarded();
            _builder.Dispose();
            SocketStatistics here = from.GetStatistics();
            SocketStatistics there = to.GetStatistics();
            // Its one subscription counts as a message, and is said again on each connection.
            int updates = from is XSubSocket ? 1 + cuts : 0;
            // Where the next connection has subscribed before the loss of the last one is noticed, what goes to both counts for both.
            int again = from is PubSocket or XPubSocket ? _sent : 0;
            Assert.InRange(here.AcceptedMessages + here.DroppedAtHighWaterMark + here.UnmatchedMessages, _sent,
                _sent + (2 * updates) + again);
            Assert.Equal(here.AcceptedMessages, here.WrittenMessages + here.DroppedMessages);
            Assert.Equal(there.ReceivedMessages, there.DeliveredMessages + there.DroppedUnreadMessages + there.FilteredMessages);
            // What it tells itself of a topic that ended with its connection was written by nobody.
            int notices = to is XPubSocket ? cuts : 0;
            Assert.InRange(there.ReceivedMessages, 1, here.WrittenMessages + notices);
            if (to is not XPubSocket)
            {
                Assert.Equal(_received, there.DeliveredMessages); // An XPUB gives notices besides.
            }

            Run[] runs = [.. _runs.Values.OrderBy(static r => r.First)];
            Assert.All(runs.Zip(runs.Skip(1)), static p => Assert.True(p.First.Last < p.Second.First, $"{p.First} and {p.Second} overlap"));
            if (!_mayDrop)
            {
                // A cut's: what was lost with the connection, and from a publisher what it sends before the next one has subscribed.
                Assert.Equal((0, 0, 0), (here.DroppedAtHighWaterMark, here.DroppedAtByteLimit, here.DroppedAtContextLimit));
                // Each second message may wait for the old one until it is known to be lost.
                int gapsPerCut = !isAccepting && from is DealerSocket ? 1 + Mark : 1;
                Assert.InRange(runs.Sum(static r => r.Gaps) + runs.Length - 1, 0, cuts * gapsPerCut);
                Assert.True(!isAccepting || runs.All(static r => r.Gaps == 0), "a message is missing within a connection");
            }
        }

        private async Task SendAsync()
        {
            Numbered.Build(_builder, sender, _sent, Topic);
            bool isSent = true;
            if (from is XSubSocket && !_mayDrop && from.GetStatistics().QueuedMessages >= Mark / 2)
            {
                await Task.Yield(); // It would drop at its mark, and cannot wait.
                return;
            }

            if (from is DuplexSocket duplex)
            {
                try
                {
                    await duplex.SendAsync(_builder, Guard.Token).Guarded();
                }
                catch (TimeoutException)
                {
                    Assert.Fail($"a send stalls\n{from.Describe()}\n{to.Describe()}");
                }
            }
            else
            {
                isSent = from is RouterSocket router ? router.To(Name).TrySend(_builder) : ((PubSocket)from).TrySend(_builder);
                await Task.Yield();
            }

            _sent += isSent ? 1 : 0;
        }

        private async Task ReceiveAsync(ReceivingSocket socket)
        {
            await foreach (Message message in socket.ReceiveAllAsync(Guard.Token))
            {
                using (message)
                {
                    if (message.Span is [0 or 1, ..])
                    {
                        continue; // a notice
                    }

                    (int of, int number) = Numbered.Check(message, topicLength: 1);
                    Assert.Equal(sender, of);
                    Assert.True(number > _last || _takesTurns, $"message {number} came behind {_last}");
                    // One for all that a socket makes itself: those go on in order.
                    object connection = isAccepting ? message.UserState ??= new object() : to;
                    Run run = _runs.GetValueOrDefault(connection, new Run(number, number - 1, Gaps: 0));
                    Assert.True(number > run.Last, $"message {number} came behind {run.Last} of the same connection");
                    _runs[connection] = run with { Last = number, Gaps = run.Gaps + (number == run.Last + 1 ? 0 : 1) };
                    _received++;
                    Volatile.Write(ref _last, Math.Max(_last, number));
                }
            }
        }
    }

    /// <summary>The numbers that came over one connection.</summary>
    private readonly record struct Run(int First, int Last, int Gaps);
}
