using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What a socket receives of its peers behind an Unbind.</summary>
public sealed class UnbindTests
{
    public static TheoryData<string> Transports => ["tcp://127.0.0.1:*", "ipc://*", "ws://127.0.0.1:*"];

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task Unbind_receives_nothing_that_a_peer_sends_later_and_leaves_what_was_unread(string wanted)
    {
        for (int round = 0; round < 20; round++)
        {
            await using var fixture = new ContextFixture();
            DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
            PairSocket pair = fixture.Context.CreatePair(new PairOptions { Linger = TimeSpan.Zero });
            foreach ((DuplexSocket bound, DuplexSocket peer) in new (DuplexSocket, DuplexSocket)[]
            {
                (dealer, fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero })),
                (pair, fixture.Context.CreatePair(new PairOptions { Linger = TimeSpan.Zero })),
            })
            {
                string endpoint = bound.Bind(wanted);
                peer.Connect(endpoint);
                peer.Send("before"u8);
                await fixture.UntilAsync(() => bound.GetStatistics().UnreadMessages == 1);
                bound.Unbind(endpoint);
                peer.TrySend("behind"u8);
                await fixture.UntilAsync(() => !peer.GetPeers().Any(static p => p.IsConnected));
                Assert.True(bound.TryReceive(out Message message));
                Assert.Equal("before", message.GetString());
                message.Dispose();
                Assert.False(bound.TryReceive(out _));
                peer.Dispose();
            }
        }
    }
}
