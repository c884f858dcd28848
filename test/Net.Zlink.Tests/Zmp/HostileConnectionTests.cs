using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>
/// Any bytes in any segmentation, over real sockets, to every type of socket: they end in messages, or in a closed connection with an event
/// that says why. Nothing throws on a shard, every buffer
/// comes back (the fixture looks), and a good client works all the time.
/// </summary>
[SuppressMessage("Security", "CA5394", Justification = "Chance that can be repeated is wanted here.")]
public sealed class HostileConnectionTests
{
    // Half a second per type on an idle machine, with the books of the buffers.
    private const int Clients = 4;
    private static readonly int PerClient = SlowTests.Rounds(50, all: 150);

    public static TheoryData<string> Types => [.. Enum.GetNames<ZmpSocketType>()];

    [Theory]
    [MemberData(nameof(Types))]
    public async Task Beside_a_good_client(string type)
    {
        var server = Enum.Parse<ZmpSocketType>(type);
        await PlayAsync(server, async (bound, attack, _) =>
        {
            await bound.ComeInAsync();
            Task attacking = attack();
            do
            {
                await bound.ExchangeAsync();
            }
            while (!attacking.IsCompleted);

            await attacking;
            await bound.ExchangeAsync();
        });
    }

    [Fact]
    public Task On_a_PAIR_whose_place_is_free_for_them_until_a_good_client_comes() =>
        PlayAsync(ZmpSocketType.Pair, static async (bound, attack, end) =>
    {
        await attack();
        await end(); // What a peer sends that is then turned away is lost (docs/protocol.md section 15.3).
        await bound.ComeInAsync();
        await bound.ExchangeAsync();
    });

    private static async Task PlayAsync(ZmpSocketType type, Func<BoundSocket, Func<Task>, Func<Task>, Task> play)
    {
        int seed = Random.Shared.Next();
        try
        {
            await using var fixture = new ContextFixture();
            await using var bound = new BoundSocket(fixture, type);
            using EventReader monitor = bound.Socket.ReadEvents();
            var seen = new Tally();
            Task watching = WatchAsync(monitor, seen);
            Task Attack() => Task.WhenAll(Enumerable.Range(0, Clients)
                .Select(client => AttackAsync(bound, type, new Random(seed + client))));

            // Those that left at once may still wait to be accepted, and what they said to be read.
            Task EndAsync() => fixture.UntilAsync(
                () => watching.IsCompleted
                    || (seen.Accepted >= (Clients * PerClient) + bound.GoodClients && seen.Open == 0
                        && bound.Socket.GetStatistics().UnreadMessages == 0));
            await play(bound, Attack, EndAsync);
            bound.Leave();
            await EndAsync();
            Assert.Equal(0, fixture.Context.GetStatistics().Shards.Sum(static s => s.Faults));

            // Chance gets enough of them over the handshake, and enough not.
            Assert.InRange(bound.Socket.GetStatistics().FailedHandshakes, Clients * PerClient / 10, Clients * PerClient * 9 / 10);
            bound.Socket.Dispose();
            await watching.Guarded();
            Assert.Equal(0, seen.Open);
        }
        catch (Exception e)
        {
            throw new InvalidOperationException($"Failed with seed {seed}.", e);
        }
    }

    /// <summary>Reads all events until the socket is disposed of: each connection ends once, for a reason.</summary>
    private static async Task WatchAsync(EventReader monitor, Tally seen)
    {
        await foreach (SocketEvent one in monitor.ReadAllAsync(Guard.Token).ConfigureAwait(false))
        {
            Assert.False(one.Type is SocketEventTypes.HandlerFailed or SocketEventTypes.EventsDropped);
            if (one.Type == SocketEventTypes.Accepted)
            {
                seen.Accept();
            }
            else if (one.Type == SocketEventTypes.Disconnected)
            {
                Assert.InRange(one.ToNativeValue(), 3, 4);
                Assert.False(string.IsNullOrEmpty(one.Detail));
                seen.End();
            }
        }
    }

    private static async Task AttackAsync(BoundSocket bound, ZmpSocketType type, Random random)
    {
        for (int i = 0; i < PerClient; i++)
        {
            HostileConversation conversation = HostileConversation.Next(random, type);
            string endpoint = bound.Endpoints[random.Next(bound.Endpoints.Length)];
            try
            {
                await ConverseAsync(endpoint, conversation);
            }
            catch (Exception e)
            {
                throw new InvalidOperationException($"{endpoint}: {conversation}", e);
            }
        }
    }

    private static async Task ConverseAsync(string endpoint, HostileConversation conversation)
    {
        using RawPeer peer = await RawPeer.ConnectAsync(endpoint);
        try
        {
            foreach (byte[] piece in ZmpFixture.Cut(conversation.Bytes, conversation.Cuts))
            {
                await peer.SendAsync(piece);
            }

            if (conversation.End == HostileEnd.Orderly)
            {
                peer.EndSending();
            }
        }
        catch (SocketException)
        {
            return; // Refused before it had said all: that is an end, too.
        }

        switch (conversation.End)
        {
            case HostileEnd.Orderly:
                await peer.ReadToAnyEndAsync();
                break;
            case HostileEnd.Reset:
                peer.Reset();
                break;
        }
    }

    /// <summary>How many connections came, and how many of them are left.</summary>
    private sealed class Tally
    {
        private int _accepted;
        private int _open;

        public int Accepted => Volatile.Read(ref _accepted);

        public int Open => Volatile.Read(ref _open);

        public void Accept()
        {
            Interlocked.Increment(ref _open);
            Interlocked.Increment(ref _accepted);
        }

        public void End() => Interlocked.Decrement(ref _open);
    }
}
