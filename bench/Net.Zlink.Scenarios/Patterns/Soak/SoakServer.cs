using System.Text;
using Net.Zlink.Scenarios.Patterns.Running;

namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>The end of a lane that stays: sends everything back, or publishes.</summary>
/// <param name="context">Where its sockets are.</param>
/// <param name="pattern">One of <see cref="PatternNames.All"/>.</param>
/// <param name="transport">One of <see cref="PatternNames.Transports"/>.</param>
internal sealed class SoakServer(ZlinkContext context, string pattern, string transport)
{
    // Slower than its subscribers, or all that is measured is a queue at its limit.
    private static readonly TimeSpan Rest = TimeSpan.FromMilliseconds(10);

    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(5);

    private const int PublishedInARow = 16;

    private static readonly byte[] ServerId = "SERVER"u8.ToArray();

    private readonly Certificates? _certificates = Certificates.For(transport);
    private ZmpSocket? _socket;
    private StreamSocket? _stream;

    public string Bind()
    {
        string endpoint = transport is PatternNames.Inproc ? $"inproc://{pattern}" : Endpoints.Of(transport);
        if (pattern is PatternNames.Stream)
        {
            _stream = context.CreateStream();
            Secure(_stream.Options, isServer: true);
            return _stream.Bind(endpoint, new Echo());
        }

        _socket = pattern switch
        {
            PatternNames.Pair => context.CreatePair(),
            PatternNames.DealerDealer => context.CreateDealer(),
            PatternNames.PubSub => context.CreatePub(new PubOptions { NoDrop = true }),
            _ => context.CreateRouter(new RouterOptions { RoutingId = ServerId }),
        };
        Secure(_socket.Options, isServer: true);
        string bound = _socket.Bind(endpoint);
        return transport is PatternNames.Inproc ? endpoint : bound;
    }

    /// <summary>How it stands, for a fault.</summary>
    public string Describe() => _socket?.Describe() ?? _stream?.Describe() ?? "not bound";

    /// <summary>Serves until it is cancelled.</summary>
    public async Task RunAsync(CancellationToken stop)
    {
        using Certificates? certificates = _certificates;
        await using ZmpSocket? socket = _socket;
        await using StreamSocket? stream = _stream;
        switch (socket)
        {
            case DuplexSocket duplex:
                while (true)
                {
                    using Message message = await duplex.ReceiveAsync(stop);
                    await duplex.SendAsync(message, stop);
                }

            case RouterSocket router:
                while (true)
                {
                    using Message message = await router.ReceiveAsync(stop);
                    await router.To(message.RoutingId).SendAsync(message, stop);
                }

            case PubSocket publisher:
                await PublishAsync(publisher, stop);
                break;
            default:
                await Task.Delay(Timeout.InfiniteTimeSpan, stop);
                break;
        }
    }

    /// <summary>
    /// Waits until the last client is forgotten. A PAIR turns a second peer away, and what that one has written by then is lost with its
    /// connection; a DEALER would answer the one that is gone.
    /// </summary>
    public async Task WhenAloneAsync(CancellationToken cancellation)
    {
        while (_socket!.PeerCount > 0)
        {
            await Task.Delay(Step, cancellation);
        }
    }

    public async ValueTask<ISoakClient> ConnectAsync(string endpoint, string name, CancellationToken cancellation)
    {
        switch (pattern)
        {
            case PatternNames.Stream:
                StreamSocket stream = context.CreateStream();
                Secure(stream.Options, isServer: false);
                return new StreamClient(stream, await stream.ConnectAsync(endpoint, cancellation));
            case PatternNames.Pair:
                return new DuplexClient(Connected(context.CreatePair(), endpoint));
            case PatternNames.DealerDealer or PatternNames.DealerRouter:
                return new DuplexClient(Connected(context.CreateDealer(), endpoint));
            case PatternNames.PubSub:
                SubSocket subscriber = context.CreateSub();
                subscriber.Subscribe("");
                return new SubClient(Connected(subscriber, endpoint));
            default:
                return new RouterClient(Connected(context.CreateRouter(
                    new RouterOptions { RoutingId = Encoding.ASCII.GetBytes(name), Mandatory = true }), endpoint), ServerId);
        }
    }

    private static async Task PublishAsync(PubSocket publisher, CancellationToken stop)
    {
        byte[] payload = new byte[SoakMessage.Longest];
        using var rest = new PeriodicTimer(Rest);
        for (long number = 0; await rest.WaitForNextTickAsync(stop);)
        {
            for (int i = 0; i < PublishedInARow; i++, number++)
            {
                await publisher.SendAsync(payload.AsMemory(0, SoakMessage.Write(payload, number)), stop);
            }
        }
    }

    private T Connected<T>(T socket, string endpoint)
        where T : ZmpSocket
    {
        Secure(socket.Options, isServer: false);
        socket.Connect(endpoint);
        return socket;
    }

    private void Secure(SocketOptions options, bool isServer)
    {
        if (_certificates is not { } certificates)
        {
            return;
        }

        if (isServer)
        {
            options.Tls.CertificateFile = certificates.CertificateFile;
            options.Tls.KeyFile = certificates.KeyFile;
        }
        else
        {
            options.Tls.CaFile = certificates.CertificateFile;
            options.Tls.HostName = Certificates.Host;
            options.Tls.TrustSystem = false;
        }
    }

    private sealed class Echo : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            foreach (ReadOnlyMemory<byte> payload in frames)
            {
                peer.TrySend(payload.Span);
            }

            return ValueTask.CompletedTask;
        }
    }
}
