using System.Buffers;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol;

namespace Net.Zlink.Engine;

internal enum MessageKind
{
    /// <summary>One part, copied.</summary>
    Copied,

    /// <summary>One part in memory that the queue owns from then on.</summary>
    Donated,

    Built,

    /// <summary>Received before, and sent by reference.</summary>
    Forwarded,
}

/// <summary>
/// A message on its way into a queue, for one call. Built in a local variable: as an argument the compiler copies it, which stalls until
/// the processor's earlier writes are done, half of a send's time with cold memory.
/// </summary>
internal readonly ref struct OutgoingMessage
{
    // Larger payloads get a buffer and a send of their own: a copy of 16 KiB under the lock (about 1 us) costs more than a second send.
    public const int LargePayload = 16 * 1024;

    private readonly ReadOnlyMemory<byte> _memory;
    private readonly InboundLease? _lease;
    private readonly int _slot;

    public OutgoingMessage(ReadOnlySpan<byte> payload) => Payload = payload;

    public OutgoingMessage(ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner)
    {
        Payload = payload.Span; // First, because it may throw.
        Kind = owner is null ? MessageKind.Copied : MessageKind.Donated;
        Owner = owner;
        _memory = payload;
    }

    public OutgoingMessage(EncodedMessage built)
    {
        Kind = MessageKind.Built;
        Built = built;
    }

    public OutgoingMessage(InboundLease lease, int slot)
    {
        Kind = MessageKind.Forwarded;
        _lease = lease;
        _slot = slot;
    }

    public MessageKind Kind { get; }

    /// <summary>Of the first two kinds.</summary>
    public ReadOnlySpan<byte> Payload { get; }

    public IMemoryOwner<byte>? Owner { get; }

    public EncodedMessage? Built { get; }

    public bool IsSingle => Kind is MessageKind.Copied or MessageKind.Donated;

    public bool IsShort => IsSingle && Payload.Length < LargePayload;

    public bool IsLargeCopy => Kind == MessageKind.Copied && Payload.Length >= LargePayload;

    public bool IsRepeatedNotice => _lease is { IsRepeatedNotice: true };

    public int PartCount => Kind switch
    {
        MessageKind.Built => Built!.Parts,
        MessageKind.Forwarded => _lease!.PartsOf(_slot),
        _ => 1,
    };

    public ReadOnlySpan<byte> FirstPart
    {
        get
        {
            PartCursor first = default;
            return Kind switch
            {
                MessageKind.Built => Built!.NextPart(ref first),
                MessageKind.Forwarded => PartAt(0),
                _ => Payload,
            };
        }
    }

    public bool HasLongPartToShare
    {
        get
        {
            bool isLong = false;
            for (int i = 0; Kind == MessageKind.Forwarded && i < PartCount; i++)
            {
                isLong |= PartAt(i).Length >= LargePayload;
            }

            return isLong || Built is { HasDonated: true }
                || (Kind == MessageKind.Donated && Payload.Length >= LargePayload && MemoryMarshal.TryGetArray(_memory, out _));
        }
    }

    public long EncodedLength(FrameFormat format) => Kind switch
    {
        MessageKind.Built => Built!.TotalLength,
        MessageKind.Forwarded => _lease!.BytesOf(_slot) + ((long)format.HeaderSize * _lease.PartsOf(_slot)),
        _ => format.HeaderSize + (long)Payload.Length,
    };

    /// <summary>A queue took it, for itself alone: what was copied is released.</summary>
    public void OnQueued(BufferPool pool)
    {
        Built?.OnMoved(pool);
        if (Owner is not null && IsShort)
        {
            DeferredDisposal.Dispose(Owner);
        }
    }

    /// <summary>All its bytes were copied, or no peer took it.</summary>
    public void Consume()
    {
        Built?.Clear();
        if (Owner is not null)
        {
            DeferredDisposal.Dispose(Owner);
        }
    }

    public void CopyTo(Span<byte> destination, FrameFormat format)
    {
        switch (Kind)
        {
            case MessageKind.Built:
                Built!.CopyTo(destination);
                break;
            case MessageKind.Forwarded:
                CopyParts(0, PartCount, destination, format);
                break;
            default:
                format.WriteHeader(destination, Payload.Length, continues: false);
                Payload.CopyTo(destination[format.HeaderSize..]);
                break;
        }
    }

    public SegmentRun ToSegments(BufferPool pool, FrameFormat format)
    {
        var run = new SegmentRun(pool);
        try
        {
            switch (Kind)
            {
                case MessageKind.Donated when !IsShort:
                    format.WriteHeader(run.AddSpace(format.HeaderSize), Payload.Length, continues: false);
                    run.AddBody(OutboundSegment.ForDonated(Owner!, _memory));
                    break;
                case MessageKind.Built:
                    Built!.AddTo(ref run, pool);
                    break;
                case MessageKind.Forwarded:
                    AddParts(ref run, format);
                    break;
                default:
                    CopyTo(run.AddSpace(format.HeaderSize + Payload.Length), format);
                    break;
            }

            return run;
        }
        catch
        {
            run.Discard(Built);
            throw;
        }
    }

    public bool MoveTo(InboundLease lease, Slab.SlabCache slabs)
    {
        switch (Kind)
        {
            case MessageKind.Built:
                Built!.MoveTo(lease, slabs);
                return false;
            case MessageKind.Forwarded:
                lease.AddParts(_lease!, _slot);
                return false;
            case MessageKind.Donated when MemoryMarshal.TryGetArray(_memory, out ArraySegment<byte> segment):
                lease.AddPart(slabs.Adopt(segment.Array!, Owner!), segment.Offset, segment.Count);
                return false;
            default:
                lease.AddPart(slabs.Copy(Payload), 0, Payload.Length);
                return true;
        }
    }

    /// <summary>Outside the lane's lock.</summary>
    public InboundLease MoveToLease(Slab.SlabCache slabs)
    {
        Built?.PutIntoArrays(slabs.Pool);
        InboundLease lease = InboundLease.RentForOne(slab: null, source: null);
        if (MoveTo(lease, slabs) && Owner is not null)
        {
            DeferredDisposal.Dispose(Owner);
        }

        lease.EndMessage();
        return lease;
    }

    public Slab MoveToSlab(Slab.SlabCache slabs, FrameFormat format)
    {
        int length = (int)EncodedLength(format);
        if (Built is { HasDonated: false } && length >= LargePayload)
        {
            return Built.MoveTo(slabs);
        }

        Slab slab = slabs.Rent(length);
        CopyTo(slab.Array, format);
        return slab;
    }

    private ReadOnlySpan<byte> PartAt(int index)
    {
        (Slab slab, int offset, int length) = _lease!.PartAt(_slot + index);
        return slab.Array.AsSpan(offset, length);
    }

    private Span<byte> CopyParts(int first, int end, Span<byte> destination, FrameFormat format)
    {
        for (int i = first; i < end; i++)
        {
            ReadOnlySpan<byte> part = PartAt(i);
            format.WriteHeader(destination, part.Length, continues: i < PartCount - 1);
            part.CopyTo(destination[format.HeaderSize..]);
            destination = destination[(format.HeaderSize + part.Length)..];
        }

        return destination;
    }

    /// <summary>Short parts are copied together with the header of the long one behind them, which is referred to.</summary>
    private void AddParts(ref SegmentRun run, FrameFormat format)
    {
        int count = PartCount;
        for (int i = 0; i < count;)
        {
            int first = i;
            int length = 0;
            while (i < count && length < OutboundSegment.MaxSize && PartAt(i).Length < LargePayload)
            {
                length += format.HeaderSize + PartAt(i++).Length;
            }

            bool isShared = i < count && PartAt(i).Length >= LargePayload;
            Span<byte> space = CopyParts(first, i, run.AddSpace(length + (isShared ? format.HeaderSize : 0)), format);
            if (isShared)
            {
                (Slab slab, int offset, int shared) = _lease!.PartAt(_slot + i++);
                format.WriteHeader(space, shared, continues: i < count);
                slab.AddReference();
                run.AddBody(OutboundSegment.ForShared(slab, offset, shared));
            }
        }
    }
}

/// <summary>A message that can wait, and is checked when its turn comes.</summary>
internal readonly struct DeferredMessage(ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner)
{
    private readonly EncodedMessage? _built;
    private readonly InboundLease? _lease;
    private readonly int _slot;
    private readonly int _generation;

    public DeferredMessage(EncodedMessage built)
        : this(default, owner: null) => (_built, _generation) = (built, built.Version);

    public DeferredMessage(InboundLease lease, int slot, int generation)
        : this(default, owner: null) => (_lease, _slot, _generation) = (lease, slot, generation);

    public OutgoingMessage AsOutgoing()
    {
        if (_built is not null)
        {
            return _built.Version == _generation ? new OutgoingMessage(_built) : throw new InvalidOperationException(
                "The MessageBuilder was changed, sent or disposed while a send of it was waiting, so nothing was sent. Await a send before "
                + "you use its builder again.");
        }

        return _lease is null ? new OutgoingMessage(payload, owner)
            : _lease.IsLive(_slot, _generation) ? new OutgoingMessage(_lease, _slot)
            : throw InboundLease.Ended();
    }
}

internal enum SendStatus
{
    Accepted,

    Full,

    Closed,

    Dropped,

    Unroutable,

    NotFramed,

    NoMemory,
}
