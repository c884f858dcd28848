using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// Collects a connection's parts; states: idle, in a message, dropping. A message from several reads has a lease that refers to each of
/// their buffers.
/// </summary>
internal sealed class InboundMessages(SocketCore socket, WireLink link, int maxParts)
{
    // Measured for a part of one byte: 48 to 75 bytes.
    private const int PartCost = 64;

    private InboundRole _role;
    private Slab _slab = null!;
    private Slab? _rest;
    private int _restStart;
    private int _end;
    private ReceiveSlab _slabs = null!;
    private InboundLease? _lease;
    private InboundLease? _partial;
    private bool _copies;
    private bool _isStored;
    private bool _isInMessage;
    private bool _isDropping;
    private bool _isAllData;
    private SubscriptionOutcome _topics;
    private bool _hasTopics;
    private bool _hasData;
    private int _filtered;
    private long _bytesSoFar;
    private long _filteredBytes;
    private int _checkedAtVersion;
    private bool _continues;

    public PeerIdentity Source { get; set; } = PeerIdentity.Unknown;

    public ZmpFault Refusal => _topics == SubscriptionOutcome.TooMany ? ZmpFault.TooManyTopics : ZmpFault.BodyTooLarge;

    /// <summary>It is refused for the subscriptions of all peers together: this peer violated nothing.</summary>
    public bool IsRefusedForAll => _topics == SubscriptionOutcome.TooManyOfAll;

    public long UnfinishedBytes => _partial is { } partial ? partial.Bytes + ((long)PartCost * partial.Count) : 0;

    public void Begin(in InboundBytes bytes, ReceiveSlab slabs)
    {
        _role = socket.InboundRole;
        // The version is read before the filter is asked: messages that are excluded later are removed when they are received.
        _checkedAtVersion = _role == InboundRole.Filtered ? socket.FilterVersion : 0;
        _slabs = slabs;
        _slab = bytes.Slab;
        _end = bytes.Offset + bytes.Length;
        _continues = true;
        _isStored = false;
        // Consumers keep much memory: from now on a message pins only a buffer of its own size.
        _copies = !bytes.OwnsSlab && slabs.ShouldCopy;
    }

    /// <summary>False: the connection must end for it.</summary>
    public bool AddPart(int offset, int length, bool more) => _role switch
    {
        InboundRole.All => Add(offset, length, more),
        InboundRole.Filtered => AddIfWanted(offset, length, more),
        _ => AddFromSubscriber(offset, length, more),
    };

    /// <summary>Publishers apply the subscription; other sockets deliver its body as a message.</summary>
    public bool AddSubscription(int offset, int length, bool subscribes)
    {
        if (_role is not (InboundRole.Subscriptions or InboundRole.SubscriptionsAndData))
        {
            return AddPart(offset, length, more: false);
        }

        bool isHandled = Subscribe(_slab.Array.AsSpan(offset, length), subscribes);
        link.CountTopics(); // Behind it: a program that waits for the count then publishes.
        return isHandled;
    }

    /// <summary>
    /// <paramref name="end"/>: Where the parts end in the slab, which the next read must not overwrite. False: the connection pauses.
    /// </summary>
    public bool End(int end)
    {
        if (_filtered > 0)
        {
            link.Lane.CountFiltered(_filtered, _filteredBytes);
            _filtered = 0;
            _filteredBytes = 0;
        }

        if (_isStored && !_copies)
        {
            _slabs.Retain(_slab, end);
        }

        ReleaseRest();
        _slab = null!;
        PublishLease();
        return _continues;
    }

    public void Abandon()
    {
        ReleaseRest();
        _lease?.Abandon();
        _lease = null;
        _partial?.Abandon();
        _partial = null;
    }

    private bool Add(int offset, int length, bool more)
    {
        _isStored = true;
        if (_lease is { Count: >= InboundLease.MaxSlots, Messages: > 0 })
        {
            // A grown lease would not be kept, so 9 KB would be allocated for every 85 messages of three parts.
            PublishLease();
        }

        if ((_partial ?? _lease) is { } open && open.UnfinishedParts >= maxParts)
        {
            return false;
        }

        if (_partial is not null)
        {
            Slab slab = _copies ? CopyOfRest(ref offset) : _slab;
            slab.AddReference();
            _partial.AddPart(slab, offset, length);
        }
        else
        {
            if (_lease is null)
            {
                _slab.AddReference();
                _lease = InboundLease.Rent(_slab, Source, _checkedAtVersion);
            }

            _lease.AddPart(offset, length);
        }

        if (!more)
        {
            EndOpenMessage();
        }

        return true;
    }

    /// <summary>All parts of a read share one buffer: a message may have a million parts, and a buffer for each takes minutes.</summary>
    private Slab CopyOfRest(ref int offset)
    {
        if (_rest is null)
        {
            _rest = _slabs.Copy(_slab.Array.AsSpan(offset, _end - offset));
            _restStart = offset;
        }

        offset -= _restStart;
        return _rest;
    }

    private void ReleaseRest()
    {
        _rest?.Release();
        _rest = null;
    }

    /// <summary>The parts of an incomplete message stay behind.</summary>
    private void PublishLease()
    {
        if (_lease is not { } lease)
        {
            return;
        }

        if (_copies)
        {
            lease.MoveTo(_slabs.RentOwn((int)lease.Bytes));
        }

        _lease = null;
        _partial = lease.SplitOpenMessage();
        if (lease.Messages > 0)
        {
            Publish(lease);
        }
        else
        {
            lease.Abandon();
        }
    }

    private void Publish(InboundLease lease) => _continues &= socket.Receive.Publish(link.Lane, lease);

    private bool IsFirst(int length, bool more)
    {
        bool isFirst = !_isInMessage;
        _isInMessage = more;
        _bytesSoFar = (isFirst ? 0 : _bytesSoFar) + ZmpFrame.HeaderSize + length;
        return isFirst;
    }

    private bool AddIfWanted(int offset, int length, bool more)
    {
        if (IsFirst(length, more))
        {
            _isDropping = !socket.Accepts(_slab.Array.AsSpan(offset, length));
        }

        if (!_isDropping)
        {
            return Add(offset, length, more);
        }

        if (!more)
        {
            CountFiltered();
        }

        return true;
    }

    private bool AddFromSubscriber(int offset, int length, bool more)
    {
        UpstreamPart kind = SubscriptionParts.KindOf(_slab.Array.AsSpan(offset, length), out ReadOnlySpan<byte> prefix);
        if (IsFirst(length, more))
        {
            _hasTopics = false;
            _hasData = false;
            _isAllData = socket.OnlyFirstSubscribe && kind == UpstreamPart.Data;
        }

        kind = _isAllData ? UpstreamPart.Data : kind;
        _hasTopics |= kind != UpstreamPart.Data;
        _hasData |= kind == UpstreamPart.Data && _role == InboundRole.SubscriptionsAndData;
        if (!more && !_hasData)
        {
            CountWithoutData();
        }

        if (kind == UpstreamPart.Data)
        {
            return !_hasData || Add(offset, length, more);
        }

        bool subscribes = kind == UpstreamPart.Subscribe;
        if ((_partial ?? _lease) is not { UnfinishedParts: > 0 })
        {
            return Subscribe(prefix, subscribes);
        }

        // After data of the same message, as in the native core: a notice would be that message's last part, and ends it.
        SubscriptionOutcome outcome = socket.OnSubscription(link, prefix, subscribes, notifies: false);
        if (outcome == SubscriptionOutcome.Notify)
        {
            return Add(offset, length, more: false);
        }

        if (!more)
        {
            EndOpenMessage();
        }

        return Has(outcome);
    }

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

    private bool Has(SubscriptionOutcome outcome)
    {
        _topics = outcome > _topics ? outcome : _topics;
        return _topics < SubscriptionOutcome.TooMany;
    }

    private bool Subscribe(ReadOnlySpan<byte> prefix, bool subscribes)
    {
        if (_lease is { UnfinishedParts: 0 })
        {
            PublishLease();
        }

        SubscriptionOutcome outcome = socket.OnSubscription(link, prefix, subscribes);
        if (outcome == SubscriptionOutcome.Notify && !socket.MayRead(link))
        {
            _continues = false;
        }

        return Has(outcome);
    }
}
