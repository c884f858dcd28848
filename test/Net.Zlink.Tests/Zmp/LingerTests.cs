using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Whatever time is over at the end of a connection: what waits is dropped and counted, and what counts as sent arrives, however
/// slowly the peer reads.</summary>
public sealed class LingerTests : IDisposable
{
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(3);

    private readonly TestCertificates _certificates = new();

    public void Dispose() => _certificates.Dispose();

    public static TheoryData<string, bool> Ends =>
        new(SlowTests.Some(from scheme in (string[])["tcp", "ipc", "tls", "ws"]
                           from senderBinds in (bool[])[true, false]
                           select (
            scheme, senderBinds), every: 5));

    [Theory]
    [MemberData(nameof(Ends))]
    public async Task A_peer_that_reads_on_when_the_linger_time_is_over_gets_every_message_that_counts_as_sent(
        string scheme, bool senderBinds)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        (DealerSocket sender, DealerSocket receiver) = await ConnectAsync(fixture, fixture, scheme, senderBinds);
        long accepted = await FillAsync(fixture, sender);

        sender.Dispose();
        await fixture.SettleAsync();
        time.Advance(Linger);
        await fixture.UntilAsync(() => sender.GetStatistics().DroppedMessages > 0);
        long read = await ReadToEndAsync(fixture, receiver);

        await sender.Core.Parts.AllClosed.Guarded();
        SocketStatistics counters = sender.GetStatistics();
        Assert.Equal((accepted, counters.WrittenMessages), (counters.WrittenMessages + counters.DroppedMessages, read));
    }

    [Theory]
    [MemberData(nameof(Ends))]
    public async Task A_peer_that_reads_on_when_the_close_timeout_is_over_too_gets_every_message_that_counts_as_sent(
        string scheme, bool senderBinds)
    {
        var time = new ManualTimeProvider();
        // Standing still: a reader that is full says nothing, which the system would answer with a reset.
        await using var there = new ContextFixture(time: new ManualTimeProvider());
        await using var fixture = new ContextFixture(time: time);
        (DealerSocket sender, DealerSocket receiver) = await ConnectAsync(fixture, there, scheme, senderBinds);
        long accepted = await FillAsync(fixture, sender);

        sender.Dispose();
        await fixture.SettleAsync();
        time.Advance(Linger);
        await fixture.UntilAsync(() => sender.GetStatistics().DroppedMessages > 0);
        await fixture.Context.WhenIdleAsync().Guarded(); // The next time begins to run right behind the drop.
        time.Advance(sender.Options.CloseTimeout);
        await sender.Core.Parts.AllClosed.Guarded();

        SocketStatistics counters = sender.GetStatistics();
        Assert.Equal(accepted, counters.WrittenMessages + counters.DroppedMessages);
        // What a write was about to hand over may have left, or not.
        Assert.InRange(await ReadToEndAsync(there, receiver), counters.WrittenMessages, accepted);
    }

    [Theory]
    [MemberData(nameof(Ends))]
    public async Task A_peer_that_reads_on_when_the_time_of_the_contexts_end_is_over_gets_every_message_that_counts_as_sent(
        string scheme, bool senderBinds)
    {
        // Standing still: a reader that is full says nothing, which the system would answer with a reset.
        await using var there = new ContextFixture(time: new ManualTimeProvider());
        await using var fixture = new ContextFixture();
        (DealerSocket sender, DealerSocket receiver) = await ConnectAsync(fixture, there, scheme, senderBinds);
        long accepted = await FillAsync(fixture, sender);

        ShutdownReport report = await fixture.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded();

        SocketStatistics counters = sender.GetStatistics();
        Assert.Equal((accepted, report.UndeliveredMessages),
            (counters.WrittenMessages + counters.DroppedMessages, counters.DroppedMessages));
        Assert.InRange(await ReadToEndAsync(there, receiver), counters.WrittenMessages, accepted); // As above.
    }

    private async Task<(DealerSocket Sender, DealerSocket Receiver)> ConnectAsync(
        ContextFixture here, ContextFixture there, string scheme, bool senderBinds)
    {
        string endpoint = scheme is "ipc" ? "ipc://*" : $"{scheme}://127.0.0.1:0";
        DealerSocket sender = here.Context.CreateDealer(new DealerOptions { Linger = Linger, SendBufferSize = 1 << 20 });
        DealerSocket receiver = there.Context.CreateDealer(
            new DealerOptions { ReceiveHighWaterMark = 1, ReceiveBufferSize = 16 * 1024, Linger = TimeSpan.Zero });
        foreach (TlsOptions options in new[] { sender.Options.Tls, receiver.Options.Tls })
        {
            (options.CertificateFile, options.KeyFile, options.CaFile) =
                (_certificates.CertificateFile, _certificates.KeyFile, _certificates.CaFile);
        }

        (DealerSocket binder, DealerSocket connecter) = senderBinds ? (sender, receiver) : (receiver, sender);
        connecter.Connect(binder.Bind(endpoint));
        await here.UntilAsync(() => sender.GetPeers().Any(static peer => peer.IsConnected));
        await there.UntilAsync(() => receiver.GetPeers().Any(static peer => peer.IsConnected));
        return (sender, receiver);
    }

    /// <summary>Reads, one message at a time, until the connection is over, and says how many came.</summary>
    private static async Task<long> ReadToEndAsync(ContextFixture fixture, DealerSocket receiver)
    {
        int read = 0;
        while (receiver.GetStatistics().UnreadMessages > 0 || receiver.GetPeers().Any(static peer => peer.IsConnected))
        {
            if (!receiver.TryReceive(out Message message))
            {
                await fixture.SettleAsync();
                continue;
            }

            using (message)
            {
                Assert.Equal((1, read++), Numbered.Check(message));
            }
        }

        return read;
    }

    /// <summary>Sends until neither the system nor the queue takes any more, for a peer that does not read.</summary>
    private static async Task<long> FillAsync(ContextFixture fixture, DealerSocket sender)
    {
        using var builder = new MessageBuilder();
        int sent = 0;
        for (int refused = 0; refused < 5;)
        {
            bool isSent = sender.TrySend(Numbered.Build(builder, 1, sent));
            (sent, refused) = isSent ? (sent + 1, 0) : (sent, refused + 1);
            if (!isSent)
            {
                await fixture.SettleAsync();
            }
        }

        return sent;
    }
}
