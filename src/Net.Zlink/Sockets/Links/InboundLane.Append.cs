using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>Messages of a sender in this process.</summary>
internal sealed partial class InboundLane
{
    public SendStatus Status
    {
        get
        {
            using (_gate.EnterScope())
            {
                return Admit(force: false);
            }
        }
    }

    public SendStatus Append(in OutgoingMessage message, Slab.SlabCache slabs, PeerIdentity source, bool force = false, int checkedAt = 0)
    {
        try
        {
            return AppendOrThrow(message, slabs, source, force, checkedAt);
        }
        catch (OutOfMemoryException)
        {
            return SendStatus.NoMemory;
        }
    }

    private SendStatus AppendOrThrow(in OutgoingMessage message, Slab.SlabCache slabs, PeerIdentity source, bool force, int checkedAt)
    {
        // A long payload is copied outside of the lock. The limit is checked first, so a full lane costs no copy.
        if (message.IsLargeCopy && !force && Status is not SendStatus.Accepted and var refusal)
        {
            return refusal;
        }

        // So is what replaces an earlier message, which stays if no buffer can be had.
        Slab? copy = message.IsLargeCopy || (Conflates && message.IsShort)
            ? slabs.Copy(message.Payload) : null;
        message.Built?.PutIntoArrays(slabs.Pool);

        SendStatus status;
        InboundLease? obsolete = null;
        bool notify = false;
        bool copied = false;
        using (_gate.EnterScope())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                obsolete = Conflates ? DequeueObsolete() : null;
                copied = _added.Add(message, copy, slabs, source, checkedAt, out int parts, out long bytes);
                _capacity.Add(1, ChargeOf(bytes, parts));
                copy = null;
                notify = (!_isQueued || _isInArrivalOrder) && _consumer.Link is not null;
                _isQueued = true;
            }
        }

        copy?.Release();
        InboundLease.ReleaseAll(obsolete);
        if (copied && message.Owner is { } owner)
        {
            DeferredDisposal.Dispose(owner);
        }

        if (notify)
        {
            Link.Announce(this, messages: 1);
        }

        return status;
    }

    private SendStatus Admit(bool force) => _isClosed ? SendStatus.Closed
        : !force && !Conflates && _capacity.PauseIfFull(this) ? SendStatus.Full
        : SendStatus.Accepted;
}
