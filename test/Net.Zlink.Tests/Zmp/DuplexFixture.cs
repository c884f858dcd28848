using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What can be done to one of two sockets.</summary>
public enum DuplexStep
{
    /// <summary>A numbered message, of one part or several, if it need not wait.</summary>
    Send,

    /// <summary>One that is cancelled at once, if it has to wait.</summary>
    SendCancelled,
    Receive,
    ReceiveCancelled,

    /// <summary>Waits until what is on its way has arrived.</summary>
    Settle,
    Bind,
    Unbind,
    Connect,
    Disconnect,

    /// <summary>Disposes the socket; a new one takes its place.</summary>
    Close,
}

/// <summary>Two sockets, the first of which binds and the second connects, and what is known of them.</summary>
internal sealed class DuplexFixture : IAsyncDisposable
{
    // A wait that takes longer is over for good: an example that failed is run many times, to find a short one.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(8);

    private readonly ContextFixture _fixture = new(shutdownTimeout: TimeSpan.FromSeconds(1));
    private readonly string _types;
    private readonly int _mark;
    private readonly bool _lingers;
    private readonly bool _isInproc;
    private readonly string _endpoint;
    private readonly DuplexEnd[] _ends = [new(0), new(1)];
    private bool _isBound;
    private bool _isConnected;

    // Who has ended a connection: from then on what the other one had written may be lost with it.
    private readonly bool[] _hasEnded = new bool[2];

    public DuplexFixture(string types, string transport, int mark, bool lingers)
    {
        _types = types;
        _mark = mark;
        _lingers = lingers;
        _isInproc = string.Equals(transport, "inproc", StringComparison.Ordinal);
        _endpoint = ModelEndpoint.Of(transport);
        foreach (DuplexEnd end in _ends)
        {
            end.Open(Create(end.Index));
        }
    }

    public async Task DoAsync(DuplexStep step, int number)
    {
        DuplexEnd end = _ends[number];
        switch (step)
        {
            case DuplexStep.Send:
                end.TrySend();
                break;
            case DuplexStep.SendCancelled:
                await end.SendCancelledAsync().WaitAsync(Patience);
                break;
            case DuplexStep.Receive:
                end.TryReceive(_ends[1 - number]);
                break;
            case DuplexStep.ReceiveCancelled:
                await end.ReceiveCancelledAsync(_ends[1 - number]).WaitAsync(Patience);
                break;
            case DuplexStep.Bind when !_isBound:
                _ends[0].Socket.Bind(_endpoint);
                _isBound = true;
                break;
            case DuplexStep.Unbind when _isBound:
                _ends[0].Socket.Unbind(_endpoint);
                _isBound = false;
                _hasEnded[0] |= !_isInproc; // There only the name is free again.
                break;
            case DuplexStep.Connect when !_isConnected:
                _ends[1].NextPipe();
                _ends[1].Socket.Connect(_endpoint);
                _isConnected = true;
                break;
            case DuplexStep.Disconnect when _isConnected:
                _ends[1].Socket.Disconnect(_endpoint);
                _isConnected = false;
                _hasEnded[1] = true;
                break;
            case DuplexStep.Close:
                end.Socket.Dispose();
                end.Open(Create(number));
                _isBound &= number != 0;
                _isConnected &= number != 1;
                _hasEnded[number] = true;
                break;
            case DuplexStep.Settle:
                if (_isBound && _isConnected)
                {
                    // A PAIR with unread messages of the last peer takes no other, and a reader at its mark does not hear that the other
                    // end is gone.
                    await Guard.UntilAsync(() => AreConnected || _ends.Any(static e => e.Socket.CanReceive), "they connect", Patience);
                }

                await _fixture.SettleAsync();
                break;
            default:
                break; // nothing to end, or there already
        }

        if (_isInproc)
        {
            _isConnected = _ends[1].Socket.PeerCount > 0; // Turned away, or ended from the other side: there it does not try again.
        }
    }

    /// <summary>Brings the two together once more, reads what there is, and looks at what was lost.</summary>
    public async Task EndAsync()
    {
        await DoAsync(DuplexStep.Bind, 0);
        await Guard.UntilAsync(
            () =>
            {
                DoAsync(DuplexStep.Connect, 1).GetAwaiter().GetResult();
                Read();
                return AreConnected && _ends.All(static e => e.Sum(static s => s.QueuedMessages) == 0);
            },
            "they connect, and write what waits",
            Patience);
        await _fixture.SettleAsync();

        // What an end has written dies with a connection that the other end ends. What it has not written it delivers, if it may linger:
        // but a PAIR and a ROUTER may turn the lingering connection away for the new
        // one, or the other way round, behind whose READY it was written already; and in the process there is nothing to linger on.
        bool delivers = _lingers && !_isInproc && string.Equals(_types, "DEALER", StringComparison.Ordinal);
        bool[] mayLose = [_hasEnded[1] || (_hasEnded[0] && !_lingers), _hasEnded[0] || (_hasEnded[1] && !delivers)];
        for (int i = 0; i < 2; i++)
        {
            DuplexEnd from = _ends[i];
            DuplexEnd to = _ends[1 - i];
            if (!mayLose[i])
            {
                await Guard.UntilAsync(() => Read() && from.Accepted == to.Received, "all arrives", Patience);
            }
        }

        Read();
        for (int i = 0; i < 2; i++)
        {
            DuplexEnd from = _ends[i];
            DuplexEnd to = _ends[1 - i];
            Assert.Equal(from.Accepted, from.Sum(static s => s.AcceptedMessages));
            Assert.Equal(from.Accepted, from.Sum(static s => s.WrittenMessages + s.DroppedMessages));
            Assert.Equal(to.Received, to.Sum(static s => s.DeliveredMessages));
            Assert.Equal(to.Received, to.Sum(static s => s.ReceivedMessages - s.DroppedUnreadMessages - s.UnreadMessages));
            long lost = from.Sum(static s => s.WrittenMessages) - to.Sum(static s => s.ReceivedMessages);
            Assert.InRange(lost, 0, mayLose[i] && !_isInproc ? long.MaxValue : 0);
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (DuplexEnd end in _ends)
        {
            end.Socket.Options.Linger = TimeSpan.Zero;
            end.Dispose();
        }

        await _fixture.DisposeAsync();
    }

    private bool AreConnected => _ends.All(static e => e.Socket.GetPeers().Any(static p => p.IsConnected));

    private bool Read()
    {
        while (_ends[0].TryReceive(_ends[1]) | _ends[1].TryReceive(_ends[0]))
        {
            // and the next
        }

        return true;
    }

    private ReceivingSocket Create(int index)
    {
        ZmpSocketOptions options = _types switch
        {
            "PAIR" => new PairOptions(),
            "DEALER-ROUTER" when index == 0 => new RouterOptions { Mandatory = true },
            _ => new DealerOptions { RoutingId = DuplexEnd.ConnecterName },
        };
        options.SendHighWaterMark = _mark == 0 ? null : _mark;
        options.ReceiveHighWaterMark = _mark == 0 ? null : _mark;
        options.Linger = _lingers ? Timeout.InfiniteTimeSpan : TimeSpan.Zero;
        options.ReconnectInterval = TimeSpan.FromMilliseconds(1);
        return options switch
        {
            PairOptions pair => _fixture.Context.CreatePair(pair),
            RouterOptions router => _fixture.Context.CreateRouter(router),
            _ => _fixture.Context.CreateDealer((DealerOptions)options),
        };
    }
}

/// <summary>One of the two, and its predecessors.</summary>
internal sealed class DuplexEnd(int index) : IDisposable
{
    /// <summary>What a ROUTER calls the connecting end.</summary>
    public static readonly byte[] ConnecterName = [(byte)'B'];

    // Messages of one end by one way to the other keep their order; over a new connect they may overtake what the last one still has to
    // deliver.
    private const int PerEnd = 100_000;

    private readonly List<ReceivingSocket> _sockets = [];
    private readonly Dictionary<int, int> _accepted = [];
    private readonly Dictionary<int, int> _lastReceived = [];
    private readonly MessageBuilder _builder = new();
    private int _sender = index * PerEnd;

    public int Index => index;

    public ReceivingSocket Socket => _sockets[^1];

    /// <summary>Messages that its sockets accepted.</summary>
    public long Accepted => _accepted.Values.Sum();

    /// <summary>Messages that its application got.</summary>
    public long Received { get; private set; }

    public void Open(ReceivingSocket socket)
    {
        _sockets.Add(socket);
        NextPipe();
    }

    public void NextPipe() => _accepted[++_sender] = 0;

    public long Sum(Func<SocketStatistics, long> count) => _sockets.Sum(s => count(s.GetStatistics()));

    public void TrySend()
    {
        int number = _accepted[_sender];
        Numbered.Build(_builder, _sender, number);
        bool isSent = Socket is RouterSocket router ? router.To(ConnecterName).TrySend(_builder) : ((DuplexSocket)Socket).TrySend(_builder);
        _accepted[_sender] = number + (isSent ? 1 : 0);
    }

    public async Task SendCancelledAsync()
    {
        using var source = new CancellationTokenSource();
        int number = _accepted[_sender];
        Numbered.Build(_builder, _sender, number);
        try
        {
            ValueTask sending = Socket is RouterSocket router
                ? router.To(ConnecterName).SendAsync(_builder, source.Token)
                : ((DuplexSocket)Socket).SendAsync(_builder, source.Token);
            source.Cancel();
            await sending;
            _accepted[_sender] = number + 1;
        }
        catch (OperationCanceledException) when (source.IsCancellationRequested)
        {
            // Nothing of it may ever come: the next message gets its number.
        }
        catch (ZlinkException e) when (e.Error == ZlinkError.HostUnreachable)
        {
            // A ROUTER whose peer is not there.
        }
    }

    public bool TryReceive(DuplexEnd from)
    {
        bool isThere = Socket.TryReceive(out Message message);
        if (isThere)
        {
            Take(message, from);
        }

        return isThere;
    }

    public async Task ReceiveCancelledAsync(DuplexEnd from)
    {
        using var source = new CancellationTokenSource();
        try
        {
            ValueTask<Message> receiving = Socket.ReceiveAsync(source.Token);
            source.Cancel();
            Take(await receiving, from);
        }
        catch (OperationCanceledException) when (source.IsCancellationRequested)
        {
            // Nothing was there.
        }
    }

    public void Dispose()
    {
        Socket.Dispose();
        _builder.Dispose();
    }

    private void Take(in Message message, DuplexEnd from)
    {
        using (message)
        {
            (int sender, int number) = Numbered.Check(message);
            int last = _lastReceived.GetValueOrDefault(sender, -1);
            Assert.True(from._accepted.TryGetValue(sender, out int accepted) && number < accepted,
                $"message {number} of {sender} was not accepted, or cancelled");
            Assert.True(number > last, $"message {number} of {sender} came behind {last}");
            _lastReceived[sender] = number;
            Received++;
        }
    }
}
