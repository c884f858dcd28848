using Net.Zlink.Tests.Support;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A socket of any type that sends, and one of this process that receives all of it, over inproc: no network takes more than the
/// marks say.</summary>
internal sealed class BatchPair : IAsyncDisposable
{
    /// <summary>By which a ROUTER sends to the receiver.</summary>
    public static readonly byte[] PeerId = "peer"u8.ToArray();

    private BatchPair(ZmpSocket sender, ReceivingSocket receiver)
    {
        Sender = sender;
        Receiver = receiver;
    }

    public ZmpSocket Sender { get; }

    public ReceivingSocket Receiver { get; }

    /// <param name="context">Where.</param>
    /// <param name="type">The sender's type.</param>
    /// <param name="highWaterMark">Of both, for each direction; 0 for none.</param>
    public static async Task<BatchPair> CreateAsync(ZlinkContext context, string type, int highWaterMark)
    {
        (ZmpSocket sender, ReceivingSocket receiver) = type switch
        {
            "PAIR" => ((ZmpSocket, ReceivingSocket))(context.CreatePair(), context.CreatePair()),
            "DEALER" => (context.CreateDealer(), context.CreateDealer()),
            "ROUTER" => (context.CreateRouter(new RouterOptions { Mandatory = true }),
                context.CreateDealer(new DealerOptions { RoutingId = PeerId })),
            "PUB" => (context.CreatePub(new PubOptions { NoDrop = true }), context.CreateSub()),
            "XPUB" => (context.CreateXPub(new XPubOptions { NoDrop = true }), context.CreateSub()),
            _ => (context.CreateXSub(), context.CreateXPub()),
        };
        foreach (ZmpSocket socket in new[] { sender, receiver })
        {
            socket.Options.SendHighWaterMark = highWaterMark == 0 ? null : highWaterMark;
            socket.Options.ReceiveHighWaterMark = highWaterMark == 0 ? null : highWaterMark;
            socket.Options.Linger = TimeSpan.Zero;
        }

        (receiver as SubSocket)?.Subscribe("");
        receiver.Connect(sender.Bind("inproc://batches"));
        await Guard.UntilAsync(
            () => sender switch
            {
                PubSocket publisher => publisher.TopicCount == 1,
                XPubSocket publisher => publisher.TopicCount == 1,
                _ => sender.GetPeers().Count == 1,
            },
            "the receiver is connected");
        return new BatchPair(sender, receiver);
    }

    public int SendPayloads(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads) => Sender switch
    {
        RouterSocket router => router.To(PeerId).SendMany(payloads.Span),
        PubSocket publisher => publisher.SendMany(payloads.Span),
        _ => ((DuplexSocket)Sender).SendMany(payloads.Span),
    };

    public int SendMessages(ReadOnlyMemory<Message> messages) => Sender switch
    {
        RouterSocket router => router.To(PeerId).SendMany(messages.Span),
        PubSocket publisher => publisher.SendMany(messages.Span),
        _ => ((DuplexSocket)Sender).SendMany(messages.Span),
    };

    public ValueTask<int> SendPayloadsAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellation) => Sender switch
    {
        RouterSocket router => router.To(PeerId).SendManyAsync(payloads, cancellation),
        PubSocket publisher => publisher.SendManyAsync(payloads, cancellation),
        _ => ((DuplexSocket)Sender).SendManyAsync(payloads, cancellation),
    };

    public ValueTask<int> SendMessagesAsync(ReadOnlyMemory<Message> messages, CancellationToken cancellation) => Sender switch
    {
        RouterSocket router => router.To(PeerId).SendManyAsync(messages, cancellation),
        PubSocket publisher => publisher.SendManyAsync(messages, cancellation),
        _ => ((DuplexSocket)Sender).SendManyAsync(messages, cancellation),
    };

    public async ValueTask DisposeAsync()
    {
        await Sender.DisposeAsync().Guarded();
        await Receiver.DisposeAsync().Guarded();
    }
}
