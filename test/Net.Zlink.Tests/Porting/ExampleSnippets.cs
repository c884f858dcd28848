using System.Buffers;
using System.Text;
using Microsoft.Extensions.Logging;
using Net.Zlink.Buffers;

namespace Net.Zlink.Tests.Porting;

/// <summary>The examples in the library's XML documentation, compiled.</summary>
internal static class ExampleSnippets
{
    internal static void Pools(ZmpSocket any, PairSocket socket)
    {
        using IMemoryOwner<byte> owner = BufferPool.Shared.Rent(1_500);
        int length = Encoding.UTF8.GetBytes("hello", owner.Memory.Span);
        socket.Send(owner.Memory.Span[..length]);
        var pool = new BufferPool(new BufferPoolOptions { ClassPolicies = BufferPoolOptions.ServerPolicies, LeakCheck = true });
        Use(any, pool);
    }

    internal static async Task Context(ILoggerFactory loggers)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { LoggerFactory = loggers });
        RouterSocket server = context.CreateRouter();
        server.Bind("tcp://127.0.0.1:5555");
    }

    internal static async Task Dealer(ZlinkContext context)
    {
        DealerSocket client = context.CreateDealer();
        client.Connect("tcp://127.0.0.1:5555");
        await client.SendAsync("hello");
        using Message reply = await client.ReceiveAsync();
    }

    internal static async Task Router(ZlinkContext context)
    {
        RouterSocket server = context.CreateRouter();
        server.Bind("tcp://127.0.0.1:5555");
        using Message request = await server.ReceiveAsync();
        await server.SendAsync(request.RoutingId, "reply"u8.ToArray());
    }

    internal static async Task Ids(RouterSocket router)
    {
        Dictionary<RoutingId, int> requests = [];
        using Message message = await router.ReceiveAsync();
        requests[message.RoutingId.Copy()] = 1;
    }

    internal static async Task Pair(ZlinkContext context)
    {
        PairSocket left = context.CreatePair(), right = context.CreatePair();
        left.Bind("inproc://pair");
        right.Connect("inproc://pair");
        await left.SendAsync("ping");
        using Message message = await right.ReceiveAsync();
    }

    internal static void Pub(ZlinkContext context)
    {
        PubSocket publisher = context.CreatePub();
        publisher.Bind("tcp://127.0.0.1:5556");
        publisher.Send("price.EURUSD 1.0823"u8);
    }

    internal static async Task Sub(ZlinkContext context)
    {
        SubSocket subscriber = context.CreateSub();
        subscriber.Subscribe("price.");
        subscriber.Connect("tcp://127.0.0.1:5556");
        using Message message = await subscriber.ReceiveAsync();
    }

    internal static async Task XPub(ZlinkContext context)
    {
        XPubSocket publisher = context.CreateXPub();
        publisher.Bind("tcp://127.0.0.1:5556");
        using Message notice = await publisher.ReceiveAsync();
        bool isNew = notice.Span[0] == 1;
        Use(isNew);
    }

    internal static async Task XSub(ZlinkContext context)
    {
        XSubSocket subscriber = context.CreateXSub();
        subscriber.Connect("tcp://127.0.0.1:5556");
        subscriber.Send("\u0001price."u8); // 1 and the topic
        using Message message = await subscriber.ReceiveAsync();
    }

    internal static async Task LastValue(ZlinkContext context)
    {
        await using var prices = new LastValuePublisher(context);
        prices.Bind("tcp://*:5556");
        prices.Publish("price.EUR", "1.17"u8);
    }

    internal static async Task Stream(ZlinkContext context)
    {
        StreamSocket server = context.CreateStream();
        server.Bind("tcp://127.0.0.1:5557");
        using StreamMessage message = await server.ReceiveAsync();
        if (message.Kind == StreamMessageKind.Data)
        {
            await server.SendAsync(message.PeerId, message.Payload);
        }
    }

    internal static async Task Messages(ReceivingSocket socket)
    {
        using Message message = await socket.ReceiveAsync();
        string topic = message.GetString();
        ReadOnlySpan<byte> body = message[1].Span;
        Use(topic, body.Length);
    }

    internal static async Task Builder(DuplexSocket socket, byte[] payload)
    {
        using var message = new MessageBuilder();
        message.Add("order").Add(payload);
        await socket.SendAsync(message);
    }

    internal static void Polling(ZmpSocket requests, ZmpSocket prices)
    {
        using var poller = new Poller();
        poller.Add(requests, PollEvents.In);
        poller.Add(prices, PollEvents.In);
        var results = new PollResult[2];
        int count = poller.Poll(results, TimeSpan.FromSeconds(1));
        Use(count);
    }

    internal static async Task Proxying(RouterSocket frontRouter, DealerSocket backDealer, CancellationToken stoppingToken)
    {
        var proxy = new Proxy(frontRouter, backDealer);
        await proxy.RunAsync(stoppingToken);
    }

    internal static StreamHandler Handler() => new Echo();

    internal static async Task MadePeer(StreamHandler handler)
    {
        List<byte[]> sent = [];
        StreamPeer peer = StreamPeer.Create(payload => { sent.Add(payload.ToArray()); return ZlinkError.None; });
        await handler.OnReceivedAsync(peer, StreamFrames.Create("hello"u8.ToArray()));
    }

    // What an example only names.
    private static void Use(params ReadOnlySpan<object> values) => _ = values.Length;

    private sealed class Echo : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            peer.SendMany(frames, out _);
            return default;
        }
    }
}
