using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>
/// Any bytes in any segmentation, over real sockets, to every type of socket: they end in messages, or in a closed connection with an event that says why. Nothing throws on a shard, every buffer
/// comes back (the fixture looks), and a good client works all the time.
/// </summary>
[SuppressMessage("Security", "CA5394", Justification = "Chance that can be repeated is wanted here.")]
public sealed class HostileConnectionTests
{
    // Half a second per type on an idle machine, with the books of the buffers.
    private const int Clients = 4;
    private const int PerClient = 150;

    public static TheoryData<string> Types => [.. Enum.GetNames<ZmpSocketType>()];

    [Theory]
    [MemberData(nameof(Types))]
    public async Task Beside_a_good_client(string type)
    {
        var server = Enum.Parse<ZmpSocketType>(type);
        await PlayAsync(server, async (bound, attack) =>
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
    public Task On_a_PAIR_whose_place_is_free_for_them_until_a_good_client_comes() => PlayAsync(ZmpSocketType.Pair, static async (bound, attack) =>
    {
        await attack();
        await bound.ComeInAsync();
        await bound.ExchangeAsync();
    });

    private static async Task PlayAsync(ZmpSocketType type, Func<BoundSocket, Func<Task>, Task> play)
    {
        int seed = Random.Shared.Next();
        try
        {
            await using var fixture = new ContextFixture();
            await using var bound = new BoundSocket(fixture, type);
            using SocketMonitor monitor = bound.Socket.OpenMonitor();
            Task<(int Accepted, int Disconnected)> watching = WatchAsync(monitor);
            Task Attack() => Task.WhenAll(Enumerable.Range(0, Clients).Select(client => AttackAsync(bound, type, new Random(seed + client))));
            await play(bound, Attack);
            bound.Leave();
            await fixture.UntilAsync(() => fixture.Context.GetStatistics().Shards.Sum(static s => s.Connections) == 0);
            Assert.Equal(0, fixture.Context.GetStatistics().Shards.Sum(static s => s.Faults));
            Assert.Equal(0, monitor.Dropped);

            // Chance gets enough of them over the handshake, and enough not.
            Assert.InRange(bound.Socket.GetStatistics().FailedHandshakes, Clients * PerClient / 10, Clients * PerClient * 9 / 10);
            bound.Socket.Dispose();
            (int accepted, int disconnected) = await watching.Guarded();
            Assert.InRange(accepted, Clients * PerClient, int.MaxValue);
            Assert.Equal(accepted, disconnected);
        }
        catch (Exception e)
        {
            throw new InvalidOperationException($"Failed with seed {seed}.", e);
        }
    }

    /// <summary>Reads all events until the socket is disposed of.</summary>
    private static async Task<(int Accepted, int Disconnected)> WatchAsync(SocketMonitor monitor)
    {
        int accepted = 0;
        int disconnected = 0;
        await foreach (SocketEvent one in monitor.ReadAllAsync(Guard.Token).ConfigureAwait(false))
        {
            Assert.NotEqual(SocketEventTypes.HandlerFailed, one.Type);
            accepted += one.Type == SocketEventTypes.Accepted ? 1 : 0;
            if (one.Type == SocketEventTypes.Disconnected)
            {
                disconnected++;
                Assert.InRange(one.Value, 3, 4);
                Assert.False(string.IsNullOrEmpty(one.Detail));
            }
        }

        return (accepted, disconnected);
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
            foreach (byte[] piece in ZmpKit.Cut(conversation.Bytes, conversation.Cuts))
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
}
