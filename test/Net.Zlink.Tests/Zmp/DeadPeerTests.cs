using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

public sealed class DeadPeerTests
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(5);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Disposing_a_context_with_a_message_for_a_dead_peer_ends_within_ShutdownTimeout_and_says_what_it_dropped(
        bool isListening)
    {
        using var listener = new FullListener(); // A connect to it hangs, as to a host that is switched off.
        string endpoint = isListening ? listener.Endpoint : RawListener.NobodyListens();
        var clock = new ManualTimeProvider();
        var log = new RecordingLoggers();
        var context = new ZlinkContext(new ZlinkContextOptions { TimeProvider = clock, ShutdownTimeout = Timeout, LoggerFactory = log });
        Task<TimeSpan> using_;
        await using (var fixture = new ContextFixture())
        {
            using_ = UseAsync(context, endpoint, clock);
            TimeSpan step = Timeout / 50;
            while (!using_.IsCompleted && clock.Elapsed < 2 * Timeout)
            {
                clock.Advance(step);
                await fixture.SettleAsync();
                await context.WhenIdleAsync().Guarded();
            }
        }

        // What is left to do by now waits for no clock.
        TimeSpan took = await using_.Guarded();
        Assert.InRange(took, Timeout, 2 * Timeout);
        ShutdownReport report = await context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded(); // The first one's.
        Assert.Equal((false, 2L), (report.Drained, report.UndeliveredMessages));
        UndeliveredPeer peer = Assert.Single(report.Peers);
        Assert.Equal((endpoint, 2L), (peer.Endpoint, peer.Messages));
        string line = Assert.Single(log.TextsOf(7)); // What a program sees that looks at no report.
        Assert.Contains($" of {endpoint}: 2 accepted messages (", line, StringComparison.Ordinal);
    }

    private static async Task<TimeSpan> UseAsync(ZlinkContext context, string endpoint, TimeProvider clock)
    {
        long started;
        await using (context)
        {
            await using DealerSocket socket = context.CreateDealer();
            socket.Connect(endpoint);
            socket.Send("one"u8);
            await socket.SendAsync("two"u8.ToArray(), Guard.Token);
            started = clock.GetTimestamp();
        }

        return clock.GetElapsedTime(started);
    }
}
