using System.Buffers.Binary;
using System.Threading.Channels;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A bound socket of any type whose messages are read all the time, and a good client of it, which exchanges numbered messages
/// with it in whichever directions the types have.</summary>
internal sealed class BoundSocket : IAsyncDisposable
{
    private static readonly byte[] GoodId = "the good client"u8.ToArray();

    // What nobody says by chance: it is also the topic.
    private readonly byte[] _token = Guid.NewGuid().ToByteArray();
    private readonly Channel<int> _arrived = Channel.CreateUnbounded<int>();
    private readonly ContextFixture _fixture;
    private readonly ZmpSocket _client;
    private readonly Task _reading;
    private int _number;

    public BoundSocket(ContextFixture fixture, ZmpSocketType type)
    {
        _fixture = fixture;
        ZlinkContext context = fixture.Context;
        TimeSpan soon = TimeSpan.FromMilliseconds(10);
        (Socket, _client) = type switch
        {
            ZmpSocketType.Pair => ((ZmpSocket, ZmpSocket))(
                context.CreatePair(), context.CreatePair(new PairOptions { ReconnectInterval = soon })),
            ZmpSocketType.Dealer => (context.CreateDealer(), context.CreateDealer()),
            ZmpSocketType.Router => (context.CreateRouter(), context.CreateDealer(new DealerOptions { RoutingId = GoodId })),
            ZmpSocketType.Pub => (context.CreatePub(), context.CreateSub()),
            ZmpSocketType.XPub => (context.CreateXPub(), context.CreateSub()),
            ZmpSocketType.Sub => (context.CreateSub(), context.CreatePub()),
            _ => (context.CreateXSub(), context.CreatePub()),
        };
        Socket.Options.Linger = TimeSpan.Zero;
        string open = Socket.Bind("tcp://127.0.0.1:0");
        Socket.Options.MaxMessageSize = 100; // From here on.
        Endpoints = [open, Socket.Bind("tcp://127.0.0.1:0")];
        (Socket as SubSocket)?.Subscribe([]);
        (Socket as XSubSocket)?.Send([1]);
        (_client as SubSocket)?.Subscribe(_token);
        _reading = Socket is ReceivingSocket receiver ? ReadAsync(receiver) : Task.CompletedTask;
    }

    public ZmpSocket Socket { get; }

    /// <summary>Where it is bound: without a limit of sizes, and with one of 100 bytes.</summary>
    public string[] Endpoints { get; }

    /// <summary>How many good clients have come.</summary>
    public int GoodClients { get; private set; }

    /// <summary>The good client connects, and is ready.</summary>
    public async Task ComeInAsync()
    {
        GoodClients++;
        _client.Connect(Endpoints[0]);
        await _fixture.UntilAsync(() => (_client, Socket) switch
        {
            (PubSocket publisher, _) => publisher.TopicCount == 1,
            (_, PubSocket publisher) => publisher.TopicCount == 1,
            (_, XPubSocket publisher) => publisher.TopicCount == 1,
            _ => _client.GetPeers().Any(static peer => peer.IsConnected),
        });
    }

    /// <summary>A message each way, where there are two ways that lead to the other for certain.</summary>
    public async Task ExchangeAsync()
    {
        byte[] message = [.. _token, 0, 0, 0, 0];
        BinaryPrimitives.WriteInt32LittleEndian(message.AsSpan(_token.Length), ++_number);
        if (_client is not SubSocket)
        {
            await (_client is PubSocket publisher ? publisher.SendAsync(message, Guard.Token)
                : ((DuplexSocket)_client).SendAsync(message, Guard.Token)).Guarded();
            Assert.Equal(_number, await _arrived.Reader.ReadAsync(Guard.Token).Guarded());
        }

        switch (Socket)
        {
            case PubSocket publisher:
                await publisher.SendAsync(message, Guard.Token).Guarded();
                break;
            case PairSocket or XPubSocket:
                await ((DuplexSocket)Socket).SendAsync(message, Guard.Token).Guarded();
                break;
            case RouterSocket router:
                await router.To(GoodId).SendAsync(message, Guard.Token).Guarded();
                break;
            default:
                return; // DEALER goes round all peers; SUB and XSUB have nothing to say.
        }

        using Message answer = await ((ReceivingSocket)_client).ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(message, answer.Span.ToArray());
    }

    /// <summary>The good client goes.</summary>
    public void Leave() => _client.Dispose();

    public async ValueTask DisposeAsync()
    {
        _client.Dispose();
        await Socket.DisposeAsync().Guarded();
        await _reading.Guarded();
    }

    private async Task ReadAsync(ReceivingSocket receiver)
    {
        await foreach (Message message in receiver.ReceiveAllAsync(Guard.Token).ConfigureAwait(false))
        {
            using (message)
            {
                if (message.Span.StartsWith(_token) && message.Span.Length == _token.Length + sizeof(int))
                {
                    _arrived.Writer.TryWrite(BinaryPrimitives.ReadInt32LittleEndian(message.Span[_token.Length..]));
                }
            }
        }
    }
}
