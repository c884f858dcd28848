using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>Puts the parts that one connection reads together into messages, and hands whole ones to its pipe: the receive state machine
/// (idle, in a message, dropping).</summary>
/// <remarks>
/// Parts stay where they were read. A message that several reads bring is collected in a lease of its own, which refers to each of their
/// buffers. Touched only on the shard.
/// </remarks>
internal sealed class InboundMessages(SocketCore socket, WireLink link, int maxParts)
{
    // What a part of one byte was measured to take, 48 to 75 bytes: its place in a lease, 20 bytes and as much again where that has just
    // doubled, its header, and something of the buffer that it lies in.
    private const int PartCost = 64;

    private InboundRole _role;
    private Slab _slab = null!;
    private ReceiveSlab _slabs = null!;
    private InboundLease? _lease;
    private InboundLease? _partial;
    private SubscriptionParts _upstream;
    private bool _ownsSlab;
    private bool _isStored;
    private bool _isInMessage;
    private bool _isDropping;
    private SubscriptionOutcome _topics;
    private bool _hasTopics;
    private bool _hasData;
    private int _filtered;
    private long _bytesSoFar;
    private long _filteredBytes;
    private int _end;
    private int _checkedAtVersion;
    private Delivery _delivery;

    /// <summary>Who sends, once that is known.</summary>
    public PeerIdentity Source { get; set; } = PeerIdentity.Unknown;

    /// <summary>Where the batch's bytes are now.</summary>
    public byte[] Array => _slab.Array;

    /// <summary>Where they begin.</summary>
    public int Start { get; private set; }

    /// <summary>Why the part that was taken last is refused.</summary>
    public ZmpFault Refusal => _topics == SubscriptionOutcome.TooMany ? ZmpFault.TooManyTopics : ZmpFault.BodyTooLarge;

    /// <summary>It is refused for what all peers have subscribed together: the peer has broken nothing.</summary>
    public bool IsRefusedForAll => _topics == SubscriptionOutcome.TooManyOfAll;

    /// <summary>What is kept of a message that is not whole.</summary>
    public long UnfinishedBytes => _partial is { } partial ? partial.Bytes + ((long)PartCost * partial.Count) : 0;

    /// <summary>Begins with a batch of whole frames.</summary>
    public void Begin(in InboundBatch batch, ReceiveSlab slabs)
    {
        _role = socket.InboundRole;
        // Before the filter is asked: what it lets in no more by the time of reading is sorted out there.
        _checkedAtVersion = _role == InboundRole.Filtered ? socket.FilterVersion : 0;
        _slabs = slabs;
        _delivery = Delivery.Continue;
        _isStored = false;
        _ownsSlab = !batch.OwnsSlab && slabs.ShouldCopy;
        if (_ownsSlab)
        {
            // Consumers hold on to much already: what they get from now on pins no more than its own size.
            _slab = slabs.RentOwn(batch.Length);
            batch.Bytes.CopyTo(_slab.Array);
            Start = 0;
        }
        else
        {
            _slab = batch.Slab;
            Start = batch.Offset;
        }

        _end = Start + batch.Length;
    }

    /// <summary>Takes one part.</summary>
    /// <returns>False: <see cref="Refusal"/>.</returns>
    public bool AddPart(int offset, int length, bool more)
    {
        if (_role != InboundRole.All && !IsWanted(offset, length, more, out bool handled))
        {
            return handled;
        }

        return Add(offset, length, more);
    }

    /// <summary>Takes a frame that subscribes or cancels: for publishers; others deliver its body as a message.</summary>
    /// <returns>False: <see cref="Refusal"/>.</returns>
    public bool AddSubscription(int offset, int length, bool subscribes)
    {
        if (_role is not (InboundRole.Subscriptions or InboundRole.SubscriptionsAndData))
        {
            return AddPart(offset, length, more: false);
        }

        link.CountTopics();
        return Subscribe(_slab.Array.AsSpan(offset, length), subscribes);
    }

    /// <summary>The batch is through: whole messages go to the pipe, a piece of one waits for the rest.</summary>
    public Delivery End()
    {
        InboundLease? lease = _lease;
        _lease = null;
        if (lease is { UnfinishedParts: > 0 })
        {
            _partial = lease.SplitOpenMessage();
        }

        // Before anybody learns of the messages: whatever comes of that, the next read must not go where they lie.
        if (_ownsSlab)
        {
            _slab.Release();
        }
        else if (_isStored)
        {
            _slabs.Retain(_slab, _end);
        }

        _slab = null!;
        if (_filtered > 0)
        {
            link.Lane.CountFiltered(_filtered, _filteredBytes);
            _filtered = 0;
            _filteredBytes = 0;
        }

        if (lease is { Messages: > 0 })
        {
            Publish(lease);
        }
        else
        {
            lease?.Abandon();
        }

        return _delivery;
    }

    /// <summary>The connection is over: a message that was not whole is dropped whole.</summary>
    public void Abandon()
    {
        _partial?.Abandon();
        _partial = null;
        _upstream.Reset();
    }

    private bool Add(int offset, int length, bool more)
    {
        _isStored = true;
        _isInMessage = more;
        if (_partial is { } partial)
        {
            if (partial.UnfinishedParts >= maxParts)
            {
                return false;
            }

            _slab.AddReference();
            partial.AddPart(_slab, offset, length);
            if (!more)
            {
                _partial = null;
                partial.EndMessage();
                Publish(partial);
            }

            return true;
        }

        InboundLease? lease = _lease;
        if (lease is null)
        {
            _slab.AddReference();
            _lease = lease = InboundLease.Rent(_slab, Source, _checkedAtVersion);
        }
        else if (lease.UnfinishedParts >= maxParts)
        {
            return false;
        }
        else if (lease.Count == InboundLease.MaxSlots && lease.Messages > 0)
        {
            // It is full in the middle of a message: one that grew for the rest would not be kept, and be made anew, 9 KB, for every 85
            // messages of three parts.
            _lease = null;
            _partial = lease.SplitOpenMessage();
            Publish(lease);
            return Add(offset, length, more);
        }

        lease.AddPart(offset, length);
        if (!more)
        {
            lease.EndMessage();
            if (lease.Count >= InboundLease.MaxSlots)
            {
                _lease = null;
                Publish(lease);
            }
        }

        return true;
    }

    private void Publish(InboundLease lease)
    {
        if (link.Lane.Publish(lease) == Delivery.Park)
        {
            _delivery = Delivery.Park;
        }
    }

    /// <summary>What filters and publishers look at. False if the part goes no further; <paramref name="handled"/> is false if the
    /// connection has to end for it.</summary>
    private bool IsWanted(int offset, int length, bool more, out bool handled)
    {
        handled = true;
        bool isFirst = !_isInMessage;
        _isInMessage = more;
        _bytesSoFar = (isFirst ? 0 : _bytesSoFar) + ZmpFrame.HeaderSize + length;
        ReadOnlySpan<byte> body = _slab.Array.AsSpan(offset, length);
        if (_role == InboundRole.Filtered)
        {
            if (isFirst)
            {
                _isDropping = !socket.Accepts(body);
            }

            if (_isDropping && !more)
            {
                CountFiltered();
            }

            return !_isDropping;
        }

        if (isFirst)
        {
            _hasTopics = false;
            _hasData = false;
        }

        UpstreamPart kind = _upstream.Next(UpstreamPart.Data, body, more, socket.OnlyFirstSubscribe, out ReadOnlySpan<byte> prefix);
        _hasTopics |= kind != UpstreamPart.Data;
        _hasData |= kind == UpstreamPart.Data && _role == InboundRole.SubscriptionsAndData;
        if (!more && !_hasData)
        {
            CountWithoutData();
        }

        if (kind == UpstreamPart.Data)
        {
            return _hasData;
        }

        bool follows = (_partial ?? _lease) is { UnfinishedParts: > 0 };
        if (!follows)
        {
            handled = Subscribe(prefix, kind == UpstreamPart.Subscribe);
            return false;
        }

        // Behind data of the same message: as natively, what would be a notice is that message's last part, and ends it.
        SubscriptionOutcome outcome = socket.OnSubscription(link, prefix, kind == UpstreamPart.Subscribe, notifies: false);
        handled = Has(outcome);
        if (outcome == SubscriptionOutcome.Notify)
        {
            handled = Add(offset, length, more: false);
        }
        else if (!more)
        {
            EndOpenMessage();
        }

        return false;
    }

    /// <summary>A message ends of which nothing is for the application: it was topics, or a PUB was sent what it does not
    /// receive.</summary>
    private void CountWithoutData()
    {
        if (_hasTopics)
        {
            link.CountTopics();
        }
        else
        {
            CountFiltered();
        }
    }

    private void CountFiltered()
    {
        _filtered++;
        _filteredBytes += _bytesSoFar;
    }

    /// <summary>The message so far is all of it: what would have been its last part is nobody's business but the socket's.</summary>
    private void EndOpenMessage()
    {
        if (_partial is { } partial)
        {
            _partial = null;
            partial.EndMessage();
            Publish(partial);
        }
        else
        {
            _lease!.EndMessage();
        }
    }

    /// <summary>The socket has taken the topic in.</summary>
    private bool Has(SubscriptionOutcome outcome)
    {
        _topics = outcome > _topics ? outcome : _topics;
        return _topics < SubscriptionOutcome.TooMany;
    }

    private bool Subscribe(ReadOnlySpan<byte> prefix, bool subscribes)
    {
        if (_lease is { Messages: > 0, UnfinishedParts: 0 } earlier)
        {
            _lease = null;
            Publish(earlier); // Before a notice that came behind it.
        }

        SubscriptionOutcome outcome = socket.OnSubscription(link, prefix, subscribes);
        if (outcome == SubscriptionOutcome.Notify && !socket.MayRead(link))
        {
            _delivery = Delivery.Park;
        }

        return Has(outcome);
    }
}

/// <summary>What a socket does with what comes in.</summary>
internal enum InboundRole
{
    /// <summary>Everything is a message.</summary>
    All,

    /// <summary>Messages whose first part matches a subscription (SUB).</summary>
    Filtered,

    /// <summary>Only subscriptions count (PUB).</summary>
    Subscriptions,

    /// <summary>Subscriptions count, and the rest are messages (XPUB).</summary>
    SubscriptionsAndData,
}

/// <summary>What became of a subscription.</summary>
internal enum SubscriptionOutcome
{
    /// <summary>Nothing to tell the application.</summary>
    Silent,

    /// <summary>The application is told.</summary>
    Notify,

    /// <summary>The peer holds more than it may. From here on its connection ends.</summary>
    TooMany,

    /// <summary>All peers together hold more than they may, and this one more than its part.</summary>
    TooManyOfAll,
}
