using System.Diagnostics;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Fuzzing;

/// <summary>
/// What a peer sends to a socket over a wire in memory, on a clock that stands still. The first byte of an input chooses type and options
/// of the socket, which accepts or dials, sends a message, and receives what it can.
/// </summary>
internal sealed class SessionTarget : FuzzTarget
{
    private const SocketEventTypes Ends = SocketEventTypes.Disconnected | SocketEventTypes.HandshakeFailedNoDetail
        | SocketEventTypes.HandshakeFailedProtocol | SocketEventTypes.ConnectionRefused;

    private const int Stream = 7;

    private const int SessionsPerMinute = 1_000;

    // What peers are that the types take, in the order of their choice.
    private static readonly ZmpSocketType[] s_peers = [ZmpSocketType.Pair, ZmpSocketType.Sub, ZmpSocketType.Pub, ZmpSocketType.Router,
        ZmpSocketType.Dealer, ZmpSocketType.XSub, ZmpSocketType.XPub];

    private readonly bool _dials;
    private readonly ManualTimeProvider _clock = new();
    private readonly ZlinkContext _context;
    private readonly ShardTurns _turns;
    private int _sessions;

    public SessionTarget(bool dials)
    {
        _dials = dials;
        _context = new ZlinkContext(new ZlinkContextOptions { ShardCount = 1, TimeProvider = _clock, Pool = Pool });
        _turns = new ShardTurns(_context);
    }

    public override IEnumerable<byte[]> Seeds =>
    [
        .. from type in Enumerable.Range(0, s_peers.Length)
           from options in (byte[])[0, 8]
           select (byte[])[(byte)(type | options), .. ZmpFixture.Greeting((byte)s_peers[type], "RAW1"u8), .. ZmpFixture.Frame(1, "a"u8),
               .. ZmpFixture.Frame(0, "b"u8), .. ZmpFixture.Frame(8, "k"u8), .. ZmpFixture.Frame(16, "k"u8)],
        [4, .. ZmpFixture.DealerGreeting("A"u8), .. ZmpFixture.Control("02 0005 01 63"), .. ZmpFixture.Control("03 01 63"),
            0x5A, 1, 0, 0, 0, 0, 0x40, 0, 0xF7, 255, .. ZmpFixture.Control("05 01 0D 696E76616C6964206D61676963")],
        [Stream, 0, 0, 0, 1, 5, 0, 0, 0x40, 0, 0xF7, 255],
        [Stream | 8, 0, 0, 0, 1, 5, .. "POST"u8],
    ];

    public override byte[][] Words =>
    [
        .. from peer in s_peers select ZmpFixture.Greeting((byte)peer, "RAW1"u8),
        ZmpFixture.Hex("5A010000"), ZmpFixture.Hex("5A010100"), ZmpFixture.Frame(1, "a"u8), ZmpFixture.Frame(0, "b"u8),
        ZmpFixture.Frame(8, "t"u8), ZmpFixture.Frame(16, "t"u8), ZmpFixture.Frame(8, []), ZmpFixture.Frame(4, "i"u8),
        ZmpFixture.Frame(0, [1, (byte)'t']), ZmpFixture.Frame(0, [0, (byte)'t']), ZmpFixture.Control("02 0000 01 63"),
        ZmpFixture.Control("0300"), ZmpFixture.Control("050600"), [0x5A, 1, 0, 0, 0, 0, 0x40, 0, 0xF7, 255],
    ];

    public override void Dispose()
    {
        _turns.Dispose();
        _context.Dispose();
        base.Dispose();
    }

    protected override void Try(byte[] input)
    {
        if (input.Length == 0)
        {
            return;
        }

        if (++_sessions % SessionsPerMinute == 0)
        {
            _clock.Advance(TimeSpan.FromMinutes(1)); // For so long a context knows which warnings it has logged.
        }

        byte[] bytes = Expand(input.AsSpan(1));
        string whole = Converse([bytes], input[0]);
        Assert.Equal(whole, Converse(Cut(bytes), input[0]));
    }

    private string Converse(IEnumerable<byte[]> pieces, byte choice)
    {
        var said = new StringBuilder();
        long before = Pool.GetStatistics().Live;
        ZlinkSocket socket = Create(choice);
        IAsyncEnumerable<SocketEvent> events = socket.MonitorAsync();
        MemoryPeer peer = _dials ? Dial(socket) : Accept(socket);
        foreach (byte[] piece in pieces)
        {
            peer.Send(piece);
            _turns.Run();
        }

        if (!peer.IsClosed)
        {
            SendOne(socket);
            _turns.Run();
        }

        ReceiveAll(socket, said);
        peer.EndSending();
        _turns.Run();
        Assert.True(peer is { HasEnded: true, IsClosed: true }, "the connection outlives its peer's end");
        AppendWritten(said, peer.ReadAll(), socket is StreamSocket);
        ReceiveAll(socket, said);
        Assert.NotEmpty(socket.Describe());
        socket.Dispose();
        _turns.Run();
        Append(said, events);
        Settle(() => Pool.GetStatistics().Live <= Math.Max(before, 1), "a buffer does not come back"); // One is the shard's slab.
        return said.ToString();
    }

    /// <summary>Of ZMP the control frames: whether a message is written still depends on when the peer's fault arrives.</summary>
    private static void AppendWritten(StringBuilder said, ReadOnlySpan<byte> written, bool isStream)
    {
        while (!isStream && !written.IsEmpty)
        {
            ReadOnlySpan<byte> body = ZmpFixture.Next(ref written, out ZmpFlags flags);
            if (flags == ZmpFlags.Control)
            {
                said.Append("written ").AppendLine(Show(body));
            }
        }

        said.AppendLine(Show(written));
    }

    private ZlinkSocket Create(byte choice)
    {
        bool isLimited = (choice & 8) != 0;
        long? limit = isLimited ? 60 : null;
        int parts = isLimited ? 3 : 1000;
        switch (choice & 7)
        {
            case 0:
                return _context.CreatePair(With(new PairOptions()));
            case 1:
                return _context.CreatePub(With(new PubOptions()));
            case 2:
                SubSocket sub = _context.CreateSub(With(new SubOptions()));
                sub.Subscribe("");
                return sub;
            case 3:
                return _context.CreateDealer(With(new DealerOptions()));
            case 4:
                return _context.CreateRouter(With(new RouterOptions()));
            case 5:
                return _context.CreateXPub(With(new XPubOptions()));
            case 6:
                return _context.CreateXSub(With(new XSubOptions()));
            default:
                return _context.CreateStream(new StreamOptions { MaxMessageSize = limit ?? 1024 * 1024, Linger = TimeSpan.Zero });
        }

        T With<T>(T options)
            where T : ZmpSocketOptions
        {
            (options.MaxMessageSize, options.MaxMessageParts, options.SendMetadata) = (limit, parts, isLimited);
            (options.Linger, options.RoutingId) = (TimeSpan.Zero, "ME"u8.ToArray());
            return options;
        }
    }

    private MemoryPeer Accept(ZlinkSocket socket)
    {
        MemoryPeer peer = MemoryTransport.Connect(socket.Bind(MemoryTransport.NewEndpoint()));
        _turns.Run();
        return peer;
    }

    private MemoryPeer Dial(ZlinkSocket socket)
    {
        string endpoint = MemoryTransport.NewEndpoint();
        using MemoryTransport.MemoryListener listener = MemoryTransport.Listen(endpoint);
        Task? dialled = null;
        if (socket is StreamSocket stream)
        {
            dialled = stream.ConnectAsync(endpoint).AsTask();
        }
        else
        {
            ((ZmpSocket)socket).Connect(endpoint);
        }

        MemoryPeer peer = listener.Take();
        Settle(() => dialled?.IsCompleted ?? peer.Unread > 0, "the dial does not end");
        return peer;
    }

    /// <summary>Dialling leaves its caller's thread.</summary>
    private void Settle(Func<bool> condition, string failure)
    {
        long started = Stopwatch.GetTimestamp();
        for (var wait = default(SpinWait); !condition(); wait.SpinOnce(sleep1Threshold: -1))
        {
            Assert.True(Stopwatch.GetElapsedTime(started) < Guard.Limit, failure);
            _turns.Run();
        }
    }

    private static void SendOne(ZlinkSocket socket)
    {
        switch (socket)
        {
            case DuplexSocket duplex: // PAIR, DEALER, XPUB and XSUB.
                duplex.TrySend("topic"u8);
                break;
            case PubSocket pub:
                pub.TrySend("topic"u8);
                break;
            case RouterSocket router:
                router.To("RAW1"u8.ToArray()).TrySend("answer"u8);
                break;
            case StreamSocket stream:
                foreach (StreamPeer peer in stream.GetPeers())
                {
                    stream.To(peer.Id).TrySend("answer"u8);
                }

                break;
        }
    }

    private void ReceiveAll(ZlinkSocket socket, StringBuilder said)
    {
        if (socket is StreamSocket stream)
        {
            while (stream.TryReceive(out StreamMessage one))
            {
                using (one)
                {
                    said.Append(one.Kind).Append(' ').Append(one.Reason).Append(' ').AppendLine(Show(one.Span));
                }

                _turns.Run();
            }
        }

        while (socket is ReceivingSocket receiving && receiving.TryReceive(out Message message))
        {
            using (message)
            {
                for (int part = 0; part < message.PartCount; part++)
                {
                    said.Append(Show(message[part].Span)).Append('|');
                }

                said.AppendLine();
            }

            _turns.Run();
        }
    }

    private void Append(StringBuilder said, IAsyncEnumerable<SocketEvent> events)
    {
        SocketEventTypes seen = SocketEventTypes.None;
        foreach (SocketEvent one in events.ToBlockingEnumerable())
        {
            seen |= one.Type;
            Reached((int)one.Type);
            if ((one.Type & Ends) != SocketEventTypes.None)
            {
                Assert.False(string.IsNullOrEmpty(one.Detail), $"{one.Type} without a reason");
            }

            long value = one.Type == SocketEventTypes.ConnectRetried ? 0 : one.Value; // A random pause.
            said.Append(one.Type).Append(' ').Append(value).Append(' ').Append(one.PeerRoutingId).Append(' ').AppendLine(one.Detail);
        }

        Assert.True((seen & Ends) != SocketEventTypes.None, $"a connection ends without a reason: {said}");
    }
}
