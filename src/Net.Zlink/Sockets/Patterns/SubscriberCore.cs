using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>SUB and XSUB: topics go to every publisher, and again to each that comes or comes back; SUB takes in only what matches them.</summary>
internal sealed class SubscriberCore : SocketCore
{
    // So many changes of topics may wait for a publisher that has no connection, or as many as there are topics: then it is told the topics instead, as they are when it comes. As many as may wait for a native one by default.
    private const int MostHistory = 1000;

    // So many, and twice as many as there are topics, may wait for a publisher that is connected and has read none of them for a while: some 5 MB of usual names. Then its connection ends, since nothing that waits for it can be taken back.
    private const int MostUnread = 100_000;

    // One that reads may have so many times as much: topics change by the million a second, and a publisher that hears of them is slower than that.
    private const int MostBehind = 4;

    private static readonly TimeSpan UnreadTime = TimeSpan.FromSeconds(10);

    private readonly PrefixCounts _topics = new();
    private readonly Distribution<Pipe> _all = new();

    // All pipes, for as long as these are all: found without the lock. Null when that is not known.
    private Pipe[]? _peers;

    // Pipes that are told all topics next, so they need no news until then: new ones, and those whose connection is lost. A cancel that a new publisher gets before the topic was told it counts down what others asked it for.
    private readonly HashSet<Pipe> _toGreet = [];

    // One change of topics, or one greeting, at a time: so every publisher hears them in one order. Taken before every other lock.
    private readonly Lock _order = new();

    // The topics have a lock of their own, under which none is taken: the receive queue asks under its own.
    private ShortLock _topicsGate;
    private bool _wantsAll;
    private bool _inverts;

    public SubscriberCore(EngineHost host, InprocRegistry inproc, bool isExtended)
        : base(host, inproc, isExtended ? ZmpSocketType.XSub : ZmpSocketType.Sub) => IsExtended = isExtended;

    /// <summary>XSUB.</summary>
    public bool IsExtended { get; }

    /// <summary>Takes in what does not match.</summary>
    public bool Inverts
    {
        get => Volatile.Read(ref _inverts);
        set
        {
            if (value != Inverts)
            {
                Volatile.Write(ref _inverts, value);
                Narrow();
            }
        }
    }

    public bool OnlyFirst { get; set; }

    public override bool OnlyFirstSubscribe => OnlyFirst;

    public override InboundRole InboundRole => IsExtended ? InboundRole.All : InboundRole.Filtered;

    public override bool CanSend => IsExtended;

    /// <summary>Distinct topics held.</summary>
    public int TopicCount
    {
        get
        {
            using (_topicsGate.Hold())
            {
                return _topics.Count;
            }
        }
    }

    public override bool Accepts(ReadOnlySpan<byte> firstPart)
    {
        if (Volatile.Read(ref _wantsAll))
        {
            return !Inverts; // The empty topic: asked for each message that comes in, it needs no lock.
        }

        using (_topicsGate.Hold())
        {
            return _topics.Matches(firstPart) != Inverts;
        }
    }

    /// <summary>Adds a topic; each call goes upstream.</summary>
    public void Subscribe(ReadOnlySpan<byte> prefix)
    {
        using (new InOrder(_order))
        {
            Add(prefix);
            Pipe[] pipes;
            using (Gate.Hold())
            {
                pipes = Informed();
            }

            TellAll(pipes, ZmpFlags.Subscribe, prefix);
        }
    }

    /// <summary>Takes a topic away; what goes upstream is only the last of a topic's.</summary>
    public void Unsubscribe(ReadOnlySpan<byte> prefix)
    {
        using (new InOrder(_order))
        {
            if (!RemoveLast(prefix))
            {
                return;
            }

            Pipe[] pipes;
            using (Gate.Hold())
            {
                pipes = Informed();
            }

            TellAll(pipes, ZmpFlags.Cancel, prefix);
        }
    }

    /// <summary>XSUB: what begins with 1 or 0 changes the topics, and travels as it is; the rest are messages to all publishers.</summary>
    /// <remarks>
    /// A message without topics needs no turn among them: whoever sends both, on one thread, has told every publisher of the one before it sends the other. A pipe that is being greeted meanwhile may get it between two
    /// of its topics, as it may before the first: it takes messages from the moment on that it is attached.
    /// </remarks>
    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        bool onlyFirst = OnlyFirst; // One answer for both looks.
        if (InprocUpstream.Look(message, onlyFirst).Topics)
        {
            RouteTopics(message, onlyFirst);
        }
        else
        {
            Fanout.Send(this, Peers(), message);
        }

        return SendStatus.Accepted;
    }

    public override void Greet(Pipe pipe, GreetingOccasion occasion)
    {
        using (new InOrder(_order))
        {
            bool isOwed;
            using (Gate.Hold())
            {
                isOwed = _toGreet.Remove(pipe);
            }

            if (isOwed || occasion != GreetingOccasion.FirstConnection)
            {
                TellTopics(pipe);
            }
        }
    }

    /// <summary>News of topics that waited for the lost connection is obsolete: the next one is told all topics anew. An XSUB's messages stay.</summary>
    public override void OnConnectionLost(WirePipe pipe, ZmpSession session)
    {
        using (new InOrder(_order))
        {
            TellAnew(pipe);
        }
    }

    protected override bool Attach(Pipe pipe)
    {
        _peers = null;
        pipe.Place = _all.Add(pipe);
        _toGreet.Add(pipe);
        return true;
    }

    protected override void Remove(Pipe pipe)
    {
        if (pipe.Place is DistributionSlot slot)
        {
            pipe.Place = null;
            _peers = null;
            _all.Remove(slot);
        }

        _toGreet.Remove(pipe);
    }

    /// <summary>A message that changes topics, be it among other parts.</summary>
    private void RouteTopics(in OutgoingMessage message, bool onlyFirst)
    {
        using (new InOrder(_order))
        {
            int parts = message.PartCount;
            bool isOnlyNews = true;
            bool isNews = false;
            List<int> topics = [];
            List<int>? untold = null;
            SubscriptionParts upstream = default; // A message comes whole: nothing is kept from one to the next, also of one whose memory cannot be read to its end.
            PartCursor at = default;
            for (int i = 0; i < parts; i++)
            {
                UpstreamPart kind = upstream.Next(UpstreamPart.Data, message.NextPart(ref at), i < parts - 1, onlyFirst, out ReadOnlySpan<byte> prefix);
                if (kind is UpstreamPart.Subscribe or UpstreamPart.Cancel)
                {
                    topics.Add(i);
                }

                if (kind == UpstreamPart.Subscribe)
                {
                    Add(prefix);
                    isNews = true;
                }
                else if (kind == UpstreamPart.Cancel)
                {
                    if (RemoveLast(prefix))
                    {
                        isNews = true;
                    }
                    else
                    {
                        (untold ??= []).Add(i);
                    }
                }
                else
                {
                    isOnlyNews = false;
                }
            }

            Pipe[] pipes;
            Pipe[] toGreet;
            using (Gate.Hold())
            {
                pipes = Informed();
                toGreet = isOnlyNews || _toGreet.Count == 0 ? [] : Array.FindAll(PeersUnderLock(), _toGreet.Contains);
            }

            if (isOnlyNews && (!isNews || pipes.Length == 0))
            {
                message.Consume(); // Nobody needs to know, or whoever comes will be told.
            }
            else if (untold is null && toGreet.Length == 0)
            {
                Tell(message, pipes, isOnlyNews);
            }
            else
            {
                TellInParts(message, untold ?? [], pipes, isOnlyNews, topics, toGreet);
            }
        }
    }

    /// <summary>A message with topics in it to those that have been told of the topics before, as it is.</summary>
    private void Tell(in OutgoingMessage message, Pipe[] pipes, bool isOnlyNews)
    {
        if (!isOnlyNews || message.EncodedLength > Array.MaxLength || Array.TrueForAll(pipes, static pipe => pipe is not WirePipe))
        {
            Fanout.Send(this, pipes, message, isOnlyNews); // Forced as a SUB's topics are: one that a mark kept back would never be told.
            return;
        }

        int length = (int)message.EncodedLength;
        byte[] encoded = Host.Pool.RentArray(length);
        try
        {
            message.WriteTo(encoded);
            foreach (Pipe pipe in pipes)
            {
                if (pipe is WirePipe wire)
                {
                    wire.SendNews(encoded.AsSpan(0, length));
                    Bound(wire);
                }
            }
        }
        finally
        {
            Host.Pool.ReturnArray(encoded);
        }

        Pipe[] within = Array.FindAll(pipes, static pipe => pipe is not WirePipe);
        if (within.Length == 0)
        {
            message.Consume();
        }
        else
        {
            Fanout.Send(this, within, message, force: true);
        }
    }

    /// <summary>As <see cref="Tell"/>, without the cancels that are no topic's last, by each of which a publisher would count down what others of us still ask for; and what is no topic in it also to those that are told of all topics next.</summary>
    private void TellInParts(in OutgoingMessage message, List<int> untold, Pipe[] pipes, bool isOnlyNews, List<int> topics, Pipe[] toGreet)
    {
        InboundLease whole = message.MoveToLease(Host.Slabs);
        try
        {
            if (toGreet.Length > 0)
            {
                TellRest(whole, topics, toGreet, isOnlyNews: false);
            }

            if (pipes.Length > 0)
            {
                TellRest(whole, untold, pipes, isOnlyNews);
            }
        }
        finally
        {
            whole.Release(0, whole.GenerationOf(0));
        }
    }

    /// <summary>A message without some of its parts, of which at least one is left. They go by reference.</summary>
    private void TellRest(InboundLease whole, List<int> leftOut, Pipe[] pipes, bool isOnlyNews)
    {
        InboundLease rest = InboundLease.Rent(slab: null, source: null);
        for (int i = 0; i < whole.Count; i++)
        {
            if (leftOut.BinarySearch(i) < 0)
            {
                (Slab slab, int offset, int length) = whole.PlaceOf(i);
                slab.AddReference();
                rest.AddPart(slab, offset, length);
            }
        }

        rest.EndMessage();
        Tell(new OutgoingMessage(rest, 0), pipes, isOnlyNews);
        rest.Release(0, rest.GenerationOf(0));
    }

    private void Add(ReadOnlySpan<byte> prefix)
    {
        bool isNews;
        using (_topicsGate.Hold())
        {
            isNews = !_topics.Matches(prefix);
            _topics.Add(prefix);
            Volatile.Write(ref _wantsAll, _topics.Matches([]));
        }

        if (isNews && Inverts && !IsExtended)
        {
            Narrow();
        }
    }

    /// <summary>True if nobody asks for it any more.</summary>
    private bool RemoveLast(ReadOnlySpan<byte> prefix)
    {
        bool isCovered;
        using (_topicsGate.Hold())
        {
            if (!_topics.Remove(prefix, out int left) || left > 0)
            {
                return false;
            }

            isCovered = _topics.Matches(prefix);
            Volatile.Write(ref _wantsAll, _topics.Matches([]));
        }

        if (!isCovered && !Inverts && !IsExtended)
        {
            Narrow();
        }

        return true;
    }

    /// <summary>All pipes.</summary>
    private Pipe[] Peers()
    {
        if (Volatile.Read(ref _peers) is { } peers)
        {
            return peers;
        }

        using (Gate.Hold())
        {
            return PeersUnderLock();
        }
    }

    private Pipe[] PeersUnderLock()
    {
        Pipe[] peers = _peers ?? [.. _all.Peers];
        Volatile.Write(ref _peers, peers);
        return peers;
    }

    /// <summary>The pipes that a change of topics is told to. Under the lock.</summary>
    private Pipe[] Informed() => _toGreet.Count == 0 ? PeersUnderLock() : Array.FindAll(PeersUnderLock(), pipe => !_toGreet.Contains(pipe));

    private void TellAll(Pipe[] pipes, ZmpFlags flags, ReadOnlySpan<byte> prefix)
    {
        foreach (Pipe pipe in pipes)
        {
            pipe.SendOwn(flags, prefix);
            if (pipe is WirePipe wire)
            {
                Bound(wire);
            }
        }
    }

    /// <summary>All topics as they are.</summary>
    private void TellTopics(Pipe pipe)
    {
        List<byte[]> topics = [];
        using (_topicsGate.Hold())
        {
            foreach (ReadOnlySpan<byte> topic in _topics)
            {
                topics.Add(topic.ToArray());
            }
        }

        foreach (byte[] topic in topics)
        {
            pipe.SendOwn(ZmpFlags.Subscribe, topic);
        }
    }

    /// <summary>What the pipe has not been told yet it is not told any more, but all topics as they are when its next connection is ready.</summary>
    private void TellAnew(WirePipe pipe)
    {
        Owe(pipe);
        pipe.Queue.DropQueued(onlyNews: true);
    }

    /// <summary>The pipe is told no changes any more until it is greeted again.</summary>
    private void Owe(WirePipe pipe)
    {
        using (Gate.Hold())
        {
            if (pipe.IsAttached)
            {
                _toGreet.Add(pipe);
            }
        }
    }

    /// <summary>Changes of topics are told whatever the marks say; so that they do not pile up for a publisher that does not come, or does not read, there is an end to them.</summary>
    private void Bound(WirePipe pipe)
    {
        long waiting = pipe.Queue.Counts.QueuedNews;
        if (waiting <= MostHistory || waiting <= TopicCount)
        {
            return;
        }

        if (pipe.Session is not { } session)
        {
            TellAnew(pipe); // One that becomes ready in this moment is greeted behind this, if it is owed that: in order.
        }
        else if (MostUnread + (2L * TopicCount) is var most && waiting > most && (waiting > MostBehind * most || session.Connection.SinceLastWrite >= UnreadTime))
        {
            Owe(pipe); // From here on: until its shard ends it thousands more could come.
            session.Connection.RequestClose(DisconnectReason.TopicsUnread, CloseMode.Abort);
        }
    }

    /// <summary>The lock, held until it is disposed. Memory that is let go of meanwhile, be it another socket's whose sends go on, is disposed behind it: that is the application's code.</summary>
    private readonly ref struct InOrder
    {
        private readonly Lock.Scope _scope;

        public InOrder(Lock order)
        {
            _scope = order.EnterScope();
            HandedOver.Keep();
        }

        public void Dispose()
        {
            _scope.Dispose();
            HandedOver.LetGo();
        }
    }
}
