using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Sockets;

/// <summary>Every pattern over a wire and without one, 64 bytes. Beside other libraries: the scenario runner's 'patterns'.</summary>
[BenchmarkCategory("sockets", "patterns")]
public class PatternBenchmarks : SendReceiveBenchmarks
{
    private static readonly string[] Transports = ["inproc", "tcp"];
    private static readonly string[] Patterns = ["PAIR", "PUBSUB", "DEALER_DEALER", "DEALER_ROUTER", "ROUTER_ROUTER"];

    private readonly byte[] _payload = new byte[64];
    private Action _send = static () => { };
    private Func<int> _receive = static () => 0;

    /// <summary>STREAM is bytes on a wire, and has no inproc.</summary>
    public static IEnumerable<string> Cases =>
    [
        .. from transport in Transports
           from pattern in Patterns
           select $"{pattern} {transport}",
        "STREAM tcp",
    ];

    [ParamsSource(nameof(Cases))]
    public string Case { get; set; } = "";

    private bool IsInproc => Case.EndsWith(" inproc", StringComparison.Ordinal);

    protected override void Connect()
    {
        switch (Case.Split(' ')[0])
        {
            case "PAIR":
                UseDuplex(Context.CreatePair(), Context.CreatePair());
                break;
            case "DEALER_DEALER":
                UseDuplex(Context.CreateDealer(), Context.CreateDealer());
                break;
            case "PUBSUB":
                UsePubSub();
                break;
            case "DEALER_ROUTER":
                DealerSocket dealer = Context.CreateDealer();
                UseReceiver(Context.CreateRouter(), dealer);
                _send = () => dealer.Send(_payload);
                break;
            case "ROUTER_ROUTER":
                UseRouters();
                break;
            default:
                UseStream();
                break;
        }
    }

    protected override void Send() => _send();

    protected override int Receive() => _receive();

    private static int Length(ReceivingSocket socket)
    {
        using Message message = socket.Receive();
        return message.Span.Length;
    }

    private void UseReceiver(ReceivingSocket receiver, ZmpSocket sender)
    {
        const string Name = "inproc://benchmark";
        string endpoint = receiver.Bind(IsInproc ? Name : "tcp://127.0.0.1:*");
        sender.Connect(IsInproc ? Name : endpoint);
        _receive = () => Length(receiver);
    }

    private void UseDuplex(DuplexSocket receiver, DuplexSocket sender)
    {
        UseReceiver(receiver, sender);
        _send = () => sender.Send(_payload);
    }

    private void UsePubSub()
    {
        PubSocket publisher = Context.CreatePub(new PubOptions { NoDrop = true });
        SubSocket subscriber = Context.CreateSub();
        subscriber.Subscribe("");
        UseReceiver(subscriber, publisher);
        Settling.Until(publisher, static publisher => publisher.TopicCount > 0);
        _send = () => publisher.Send(_payload);
    }

    private void UseRouters()
    {
        byte[] id = "RECEIVER"u8.ToArray();
        RouterSocket receiver = Context.CreateRouter(new RouterOptions { RoutingId = id });
        RouterSocket sender = Context.CreateRouter(new RouterOptions { Mandatory = true });
        UseReceiver(receiver, sender);
        Settling.Until(sender, sender => sender.To(id).TrySend(_payload));
        Length(receiver);
        _send = () => sender.To(id).Send(_payload);
    }

    private void UseStream()
    {
        StreamSocket server = Context.CreateStream();
        StreamSocket client = Context.CreateStream();
        uint peer = client.ConnectAsync(server.Bind("tcp://127.0.0.1:*")).AsTask().GetAwaiter().GetResult();
        server.Receive().Dispose(); // That somebody connected.
        _send = () => client.To(peer).Send(_payload);
        _receive = () =>
        {
            using StreamMessage message = server.Receive();
            return message.Span.Length;
        };
    }
}
