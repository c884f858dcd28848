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

    public PeerIdentity Source { get; set; } = PeerIdentity.Unknown;

    public byte[] Array => _slab.Array;

    public int Start { get; private set; }

    public ZmpFault Refusal => _topics == SubscriptionOutcome.TooMany ? ZmpFault.TooManyTopics : ZmpFault.BodyTooLarge;

    /// <summary>It is refused for the subscriptions of all peers together: this peer violated nothing.</summary>
    public bool IsRefusedForAll => _topics == SubscriptionOutcome.TooManyOfAll;

    public long UnfinishedBytes => _partial is { } partial ? partial.Bytes + ((long)PartCost * partial.Count) : 0;

    public void Begin(in InboundBatch batch, ReceiveSlab slabs)
    {
        _role = socket.InboundRole;
        // The version is read before the filter is asked: messages that are excluded later are removed when they are received.
        _checkedAtVersion = _role == InboundRole.Filtered ? socket.FilterVersion : 0;
        _slabs = slabs;
        _delivery = Delivery.Continue;
        _isStored = false;
        _ownsSlab = !batch.OwnsSlab && slabs.ShouldCopy;
        if (_ownsSlab)
        {
            // Consumers keep much memory: from now on a message pins only a buffer of its own size.
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

    public bool AddPart(int offset, int length, bool more)
    {
        if (_role != InboundRole.All && !IsWanted(offset, length, more, out bool handled))
        {
            return handled;
        }

        return Add(offset, length, more);
    }

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

    public Delivery End()
    {
        InboundLease? lease = _lease;
        _lease = null;
        if (lease is { UnfinishedParts: > 0 })
        {
            _partial = lease.SplitOpenMessage();
        }

        // Before a consumer knows of the messages: the next read must not overwrite them.
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
                EndOpenMessage();
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
            // A grown lease would not be kept, so 9 KB would be allocated for every 85 messages of three parts.
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
        if (link.Lane.Publish(lease) == Delivery.Pause)
        {
            _delivery = Delivery.Pause;
        }
    }

    /// <summary>False if the part goes no further; <paramref name="handled"/> is false if the connection must end for it.</summary>
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

        UpstreamPart kind = _upstream.Next(body, more, socket.OnlyFirstSubscribe, out ReadOnlySpan<byte> prefix);
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

        // After data of the same message, as in the native core: a notice would be that message's last part, and ends it.
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
        if (_lease is { Messages: > 0, UnfinishedParts: 0 } earlier)
        {
            _lease = null;
            Publish(earlier);
        }

        SubscriptionOutcome outcome = socket.OnSubscription(link, prefix, subscribes);
        if (outcome == SubscriptionOutcome.Notify && !socket.MayRead(link))
        {
            _delivery = Delivery.Pause;
        }

        return Has(outcome);
    }
}
