using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>The end of a finite linger time: what waits is dropped and counted, and what counts as sent arrives, however slowly the peer reads.</summary>
public sealed class LingerTests : IDisposable
{
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(3);

    private readonly TestCertificates _certificates = new();

    public void Dispose() => _certificates.Dispose();

    [Theory]
    [InlineData("tcp://127.0.0.1:0", true)]
    [InlineData("tcp://127.0.0.1:0", false)]
    [InlineData("ipc://*", true)]
    [InlineData("ipc://*", false)]
    [InlineData("tls://127.0.0.1:0", true)]
    [InlineData("tls://127.0.0.1:0", false)]
    [InlineData("ws://127.0.0.1:0", true)]
    [InlineData("ws://127.0.0.1:0", false)]
    public async Task A_peer_that_reads_on_when_the_linger_time_is_over_gets_every_message_that_counts_as_sent(string endpoint, bool senderBinds)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        DealerSocket sender = fixture.Context.CreateDealer(new DealerOptions { Linger = Linger });
        DealerSocket receiver = fixture.Context.CreateDealer(new DealerOptions { ReceiveHighWaterMark = 1, Linger = TimeSpan.Zero });
        foreach (TlsOptions options in new[] { sender.Options.Tls, receiver.Options.Tls })
        {
            (options.CertificateFile, options.KeyFile, options.CaFile) = (_certificates.CertificateFile, _certificates.KeyFile, _certificates.CaFile);
        }

        if (senderBinds)
        {
            receiver.Connect(sender.Bind(endpoint));
        }
        else
        {
            sender.Connect(receiver.Bind(endpoint));
        }

        await fixture.UntilAsync(() => sender.GetPeers().Any(static peer => peer.IsConnected));
        long accepted = await FillAsync(fixture, sender);

        sender.Dispose();
        await fixture.SettleAsync();
        time.Advance(Linger);
        await fixture.UntilAsync(() => sender.GetStatistics().DroppedMessages > 0);
        int read = 0;
        while (!sender.Core.AllClosed.IsCompleted || receiver.GetStatistics().UnreadMessages > 0)
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

        SocketStatistics books = sender.GetStatistics();
        Assert.Equal((accepted, 0L), (books.AcceptedMessages, books.QueuedMessages));
        Assert.Equal(accepted, books.WrittenMessages + books.DroppedMessages);
        Assert.True(books.DroppedMessages > 0, "nothing waited when the linger time was over");
        Assert.Equal(books.WrittenMessages, read);
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
