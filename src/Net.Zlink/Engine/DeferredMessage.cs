using System.Buffers;

namespace Net.Zlink.Engine;

/// <summary>A message that can wait, and is checked when its turn comes.</summary>
internal readonly struct DeferredMessage
{
    private readonly MessageKind _kind;
    private readonly ReadOnlyMemory<byte> _payload;
    private readonly EncodedMessage? _built;
    private readonly InboundLease? _lease;
    private readonly int _slot;
    private readonly int _generation;

    public DeferredMessage(ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner)
    {
        _kind = owner is null ? MessageKind.Copied : MessageKind.Donated;
        _payload = payload;
        Owner = owner;
    }

    public DeferredMessage(EncodedMessage built)
    {
        _kind = MessageKind.Built;
        _built = built;
        _generation = built.Version;
    }

    public DeferredMessage(InboundLease lease, int slot, int generation)
    {
        _kind = MessageKind.Forwarded;
        _lease = lease;
        _slot = slot;
        _generation = generation;
    }

    public IMemoryOwner<byte>? Owner { get; }

    public OutgoingMessage AsOutgoing() => _kind switch
    {
        MessageKind.Built when _built!.Version != _generation => throw new InvalidOperationException(
            "The MessageBuilder was changed, sent or disposed while a send of it was waiting, so nothing was sent. Await a send before you "
            + "use its builder again."),
        MessageKind.Built => new OutgoingMessage(_built!),
        MessageKind.Forwarded when !_lease!.IsLive(_slot, _generation) => throw InboundLease.Ended(),
        MessageKind.Forwarded => new OutgoingMessage(_lease!, _slot),
        _ => new OutgoingMessage(_payload, Owner),
    };
}
