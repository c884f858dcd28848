using System.Globalization;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Changes of topics on their way to a publisher that is away, comes back, or does not read.</summary>
public sealed class TopicHistoryTests
{
    // One reset in four met a segment that was put back, while that was so.
    private const int Resets = 40;

    // Of what may wait: docs/protocol.md, section 12.
    private const int MostHistory = 1000;
    private const int MostUnread = 100_000;

    private static readonly byte[] PublisherGreeting = ZmpFixture.Greeting((byte)ZmpSocketType.Pub);

    [Fact]
    public async Task After_a_reset_a_publisher_is_told_the_topics_that_are_held_and_none_that_was_cancelled_meanwhile()
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        subscriber.Subscribe("held"u8);
        subscriber.Connect(listener.Endpoint);
        for (int reset = 0; reset < Resets; reset++)
        {
            using RawPeer publisher = await listener.AcceptAsync();
            await publisher.SendAsync(PublisherGreeting); // Not before the changes of the connection before were over.
            subscriber.Subscribe("last"u8);
            List<string> told = await ReadTopicsUntilAsync(publisher, "+last");
            // The greeting says what is held, and what is subscribed meanwhile comes behind it.
            Assert.True(told is ["+held", "+last"] or ["+last", "+held", "+last"], $"it was told {string.Join(' ', told)}");
            subscriber.Unsubscribe("last"u8);
            using var over = new CancellationTokenSource();
            Task changing = ChangeUntil(subscriber, over.Token);
            await ReadTopicsUntilAsync(publisher, "+changing");
            publisher.Reset();
            await fixture.UntilAsync(() => !subscriber.GetPeers().Single().IsConnected);
            await over.CancelAsync();
            await changing.Guarded();
        }
    }

    [Theory]
    [InlineData("SUB")]
    [InlineData("XSUB")]
    [InlineData("XSUB that was connected")]
    public async Task Changes_for_a_publisher_that_is_away_do_not_pile_up_and_it_is_told_what_is_held(string type)
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        (ZmpSocket socket, Action<string> subscribe, Action<string> unsubscribe, Func<SocketStatistics> counters) =
            Make(fixture.Context, type);
        socket.Connect(listener.Endpoint);
        using RawPeer publisher = await AwayAsync(listener, type);
        subscribe("held");
        for (int i = 0; i < 20_000; i++)
        {
            string topic = i.ToString(CultureInfo.InvariantCulture);
            subscribe(topic);
            unsubscribe(topic);
            Assert.InRange(counters().QueuedMessages, 0, MostHistory + 2);
        }

        using RawPeer next = type is "XSUB that was connected" ? await listener.AcceptAsync() : publisher;
        await next.SendAsync(PublisherGreeting);
        Assert.Equal(["+held"], await ReadTopicsUntilAsync(next, "+held"));
        subscribe("last");
        Assert.Equal(["+last"], await ReadTopicsUntilAsync(next, "+last"));
        SocketStatistics all = counters();
        Assert.Equal((all.DroppedMessages, all.AcceptedMessages),
            (all.ObsoleteMessages, all.WrittenMessages + all.DroppedMessages + all.QueuedMessages));
    }

    [Fact]
    public async Task Few_changes_before_the_first_connection_are_told_one_by_one_as_natively()
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Connect(listener.Endpoint);
        using RawPeer publisher = await listener.AcceptAsync();
        subscriber.Subscribe("b"u8);
        subscriber.Subscribe("a"u8);
        subscriber.Unsubscribe("b"u8);
        subscriber.Subscribe("last"u8);
        await publisher.SendAsync(PublisherGreeting);
        Assert.Equal(["+b", "+a", "-b", "+last"], await ReadTopicsUntilAsync(publisher, "+last"));
    }

    [Fact]
    public async Task Messages_of_an_XSUB_stay_when_the_changes_among_them_are_taken_back()
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(listener.Endpoint);
        using RawPeer publisher = await listener.AcceptAsync();
        subscriber.Send("first"u8);
        for (int i = 0; i <= MostHistory; i++)
        {
            byte[] topic = Encoding.ASCII.GetBytes(i.ToString(CultureInfo.InvariantCulture));
            subscriber.Send([1, .. topic]);
            subscriber.Send([0, .. topic]);
        }

        subscriber.Send("second"u8);
        await publisher.SendAsync(PublisherGreeting);
        subscriber.Send([1, .. "last"u8]);
        Assert.Equal(["first", "second", "+last"], await ReadTopicsUntilAsync(publisher, "+last"));
    }

    [Theory]
    [InlineData("SUB")]
    [InlineData("XSUB")]
    public async Task A_publisher_that_reads_no_topics_loses_its_connection_and_is_told_all_on_the_next(string type)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        RawListener listener = fixture.Listen();
        (ZmpSocket socket, Action<string> subscribe, Action<string> unsubscribe, Func<SocketStatistics> counters) =
            Make(fixture.Context, type);
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        using EventReader retries = socket.ReadEvents(SocketEventTypes.ConnectRetried);
        subscribe("held");
        socket.Connect(listener.Endpoint);
        using RawPeer publisher = await listener.AcceptAsync();
        await publisher.SendAsync(PublisherGreeting);
        await ReadTopicsUntilAsync(publisher, "+held");
        string filler = new('x', 100);
        bool isLate = false;
        Task<SocketEvent> lost = monitor.ReadAsync(Guard.Token).AsTask();
        for (int i = 0; !lost.IsCompleted; i++)
        {
            string topic = string.Create(CultureInfo.InvariantCulture, $"{i:D8}{filler}");
            subscribe(topic);
            unsubscribe(topic);
            long waiting = counters().QueuedMessages;
            Assert.InRange(waiting, 0, 2 * MostUnread);
            if (waiting > MostUnread && !isLate)
            {
                time.Advance(TimeSpan.FromSeconds(10));
                isLate = true;
            }
        }

        SocketEvent told = await lost.Guarded();
        Assert.Contains("did not read", told.Detail, StringComparison.Ordinal);
        await retries.ReadAsync(Guard.Token).Guarded();
        time.Advance(TimeSpan.FromSeconds(1));
        using RawPeer next = await listener.AcceptAsync();
        await next.SendAsync(PublisherGreeting);
        subscribe("last");
        Assert.Contains("+held", await ReadTopicsUntilAsync(next, "+last"), StringComparer.Ordinal);
    }

    /// <summary>A publisher's side of a connection, without its greeting; of one that was connected before the end of that.</summary>
    private static async Task<RawPeer> AwayAsync(RawListener listener, string type)
    {
        RawPeer publisher = await listener.AcceptAsync();
        if (type is "XSUB that was connected")
        {
            await publisher.SendAsync(PublisherGreeting);
            await publisher.ReadAsync(ZmpFrame.HeaderSize);
            publisher.EndSending();
            await publisher.ReadToAnyEndAsync();
        }

        return publisher;
    }

    private static (ZmpSocket Socket, Action<string> Subscribe, Action<string> Unsubscribe, Func<SocketStatistics> Books) Make(
        ZlinkContext context, string type)
    {
        TimeSpan soon = TimeSpan.FromMilliseconds(1);
        if (type is "SUB")
        {
            SubSocket sub = context.CreateSub(new SubOptions { ReconnectInterval = soon });
            return (sub, topic => sub.Subscribe(Encoding.ASCII.GetBytes(topic)), topic => sub.Unsubscribe(Encoding.ASCII.GetBytes(topic)),
                sub.GetStatistics);
        }

        XSubSocket xsub = context.CreateXSub(new XSubOptions { ReconnectInterval = soon });
        return (xsub, topic => xsub.Send([1, .. Encoding.ASCII.GetBytes(topic)]),
            topic => xsub.Send([0, .. Encoding.ASCII.GetBytes(topic)]), xsub.GetStatistics);
    }

    private static Task ChangeUntil(SubSocket subscriber, CancellationToken over) => Task.Factory.StartNew(
        () =>
        {
            while (!over.IsCancellationRequested)
            {
                subscriber.Subscribe("changing"u8);
                subscriber.Unsubscribe("changing"u8);
            }
        },
        Guard.Token,
        TaskCreationOptions.LongRunning,
        TaskScheduler.Default);

    /// <summary>What is told of topics, with a sign each, and messages as they are, up to one of these; a SUB tells by control frames, an
    /// XSUB by the messages of its application or by control frames.</summary>
    private static async Task<List<string>> ReadTopicsUntilAsync(RawPeer publisher, string last)
    {
        var told = new List<string>();
        while (told.Count == 0 || !string.Equals(told[^1], last, StringComparison.Ordinal))
        {
            byte[] header = await publisher.ReadAsync(ZmpFrame.HeaderSize);
            Assert.Equal(ZmpFrame.HeaderSize, header.Length);
            byte[] body = await publisher.ReadAsync(ZmpFrame.ReadLength(header));
            switch ((ZmpFlags)header[2])
            {
                case ZmpFlags.Subscribe:
                    told.Add("+" + Encoding.ASCII.GetString(body));
                    break;
                case ZmpFlags.Cancel:
                    told.Add("-" + Encoding.ASCII.GetString(body));
                    break;
                case ZmpFlags.None:
                    told.Add(body is [<= 1, ..] ? (body[0] == 1 ? "+" : "-") + Encoding.ASCII.GetString(body.AsSpan(1))
                        : Encoding.ASCII.GetString(body));
                    break;
                default:
                    break; // HELLO, READY.
            }
        }

        return told;
    }
}
