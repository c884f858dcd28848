using System.Collections.Concurrent;
using System.Net;
using System.Net.Security;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>A conversation over tls, ws or wss that is cut at every byte, in either direction: it ends with a reason, nothing is lost, and
/// no task fails unseen.</summary>
[Collection(Alone.Name)]
public sealed class CutConversationTests : IDisposable
{
    private const int AtOnce = 8;

    private readonly TestCertificates _certificates = new();

    public void Dispose() => _certificates.Dispose();

    [Theory]
    [InlineData("ws", true)]
    [InlineData("ws", false)]
    [InlineData("tls", true)]
    [InlineData("tls", false)]
    [InlineData("wss", true)]
    [InlineData("wss", false)]
    public async Task A_secure_conversation_that_is_cut_at_any_byte_ends_with_a_reason(string scheme, bool cutsClient)
    {
        var unseen = new ConcurrentQueue<Exception>();
        Collect(); // What earlier tests left.
        void Note(object? sender, UnobservedTaskExceptionEventArgs e) => unseen.Enqueue(e.Exception);
        TaskScheduler.UnobservedTaskException += Note;
        try
        {
            await using (var fixture = new StreamFixture())
            {
                StreamSocket server = fixture.Context.CreateStream();
                server.Options.Tls.Certificate = _certificates.Server;
                string endpoint = server.Bind($"{scheme}://127.0.0.1:0", TestHandler.Echo());
                var address = new IPEndPoint(IPAddress.Loopback, new Uri(endpoint).Port);
                long whole = await TalkAsync(fixture, scheme, address, cutsClient, long.MaxValue);
                Assert.InRange(whole, 20, 20_000);

                // With TLS most bytes lie within a few records, where one is like the next: there every seventh, and all of the first and
                // last.
                IEnumerable<long> cuts = Enumerable.Range(0, (int)whole).Select(static i => (long)i)
                    .Where(i => whole < 600 || i < 100 || i > whole - 200 || i % 7 == 0);
                cuts = SlowTests.Some(cuts, every: 5);
                await Parallel.ForEachAsync(
                    cuts, new ParallelOptions { MaxDegreeOfParallelism = AtOnce, CancellationToken = Guard.Token },
                        async (after, _) => await TalkAsync(fixture, scheme, address, cutsClient, after));
                await fixture.UntilAsync(() => server.PeerCount == 0);
            }

            Collect();
            Assert.Empty(unseen);
        }
        finally
        {
            TaskScheduler.UnobservedTaskException -= Note;
        }
    }

    // Connect, a message there and back, and an end in order; as much of that as gets through. Returns how much the counted side sent.
    private static async Task<long> TalkAsync(StreamFixture fixture, string scheme, IPEndPoint server, bool cutsClient, long after)
    {
        using var relay = new OneWayCut(server, cutsClient, after);
        Task relaying = relay.RunAsync();
        using (StreamSocket client = fixture.Context.CreateStream())
        {
            client.Options.Tls.Validation = static (_, _, _, errors) => errors != SslPolicyErrors.RemoteCertificateNotAvailable;
            try
            {
                uint id = await client.ConnectAsync($"{scheme}://127.0.0.1:{relay.Port}", Guard.Token).Guarded();
                await client.NextConnectedAsync();
                client.To(id).TrySend("hello"u8);
                using StreamMessage answer = await client.NextAsync();
                if (answer.Kind == StreamMessageKind.Data)
                {
                    Assert.Equal("hello"u8.ToArray(), answer.Span.ToArray());
                    client.Disconnect(id);
                    DisconnectReason reason = (await client.NextDisconnectedAsync()).Reason;
                    Assert.True(reason is DisconnectReason.Local or DisconnectReason.Remote or DisconnectReason.TransportError,
                        $"{reason} after {after}");
                }
                else
                {
                    Assert.Equal(StreamMessageKind.Disconnected, answer.Kind);
                    Assert.True(answer.Reason is DisconnectReason.Remote or DisconnectReason.TransportError,
                        $"{answer.Reason} after {after}");
                }
            }
            catch (ZlinkException refused)
            {
                Assert.Matches("lost|did not answer|closed the connection before it answered|TLS handshake|was reset", refused.Message);
            }
        }

        await relaying;
        return relay.Counted;
    }

    private static void Collect()
    {
        for (int i = 0; i < 2; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }
}
