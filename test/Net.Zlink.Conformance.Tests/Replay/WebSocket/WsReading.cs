namespace Net.Zlink.Conformance.Tests.Replay.WebSocket;

/// <summary>Reads one direction of a ws connection as its bytes come: the HTTP head, then frames; and notices what no sender may
/// do.</summary>
/// <param name="isMasked">What frames of this direction must be: a client masks, a server does not.</param>
internal sealed class WsReading(bool isMasked)
{
    private const int LargestControl = 125;

    private readonly List<WsItem> _items = [];
    private readonly List<byte> _tail = [];
    private int _taken;
    private bool _hasHead;
    private bool _isInMessage;
    private bool _isRefusal;

    /// <summary>What came, in order.</summary>
    public IReadOnlyList<WsItem> Items => _items;

    /// <summary>The first rule that was broken, in words; what follows it is not read.</summary>
    public string? Fault { get; private set; }

    /// <summary>Bytes of a head or frame that is not whole.</summary>
    public int Unfinished => _isRefusal ? 0 : _tail.Count;

    /// <summary>A head counts as one, a control frame too, and a data frame as its payload's length.</summary>
    public int Units => _items.Sum(item => item.Units);

    public void Take(ReadOnlySpan<byte> bytes)
    {
        _tail.AddRange(bytes);
        while (Fault is null && !_isRefusal && TakeOne())
        {
        }
    }

    private bool TakeOne()
    {
        byte[] left = [.. _tail];
        if (!_hasHead)
        {
            return TakeHead(left);
        }

        if (WsFrame.TryRead(left) is not { } frame)
        {
            return false;
        }

        Fault = FaultOf(frame);
        _isInMessage = frame.IsControl ? _isInMessage : !frame.IsFinal;
        Add(frame.Size, frame.IsControl ? WsItem.OfControl(frame.Opcode, frame.Payload) : WsItem.OfData(frame.Payload));
        return true;
    }

    private bool TakeHead(byte[] left)
    {
        if (HttpHead.LengthOf(left) is not { } length)
        {
            return false;
        }

        _hasHead = true;
        HttpHead? head = HttpHead.TryParse(left.AsSpan(0, length));
        Fault = head is null ? "a head that is no HTTP" : null;
        _isRefusal = head is { Status: not null, IsUpgraded: false }; // What follows is a page for people.
        Add(length, WsItem.OfHead(head));
        return true;
    }

    private void Add(int size, WsItem item)
    {
        _tail.RemoveRange(0, size);
        _taken += size;
        _items.Add(item with { End = _taken });
    }

    private string? FaultOf(WsFrame frame) => frame switch
    {
        { Reserved: not 0 } => "a frame with a reserved bit set",
        _ when !Enum.IsDefined(frame.Opcode) => $"a frame with the opcode {(int)frame.Opcode}",
        _ when frame.IsMasked != isMasked => isMasked ? "a frame without a mask" : "a masked frame",
        { IsLengthPadded: true } => "a length in more bytes than it needs",
        { IsControl: true, IsFinal: false } => "a fragmented control frame",
        { IsControl: true, Payload.Length: > LargestControl } => "a control frame of more than 125 bytes",
        { IsControl: true } => null,
        { Payload.Length: 0 } => "a data frame without data, at which a native peer closes",
        { Opcode: WsOpcode.Text } => "a text message",
        { Opcode: WsOpcode.Continuation } when !_isInMessage => "a continuation of nothing",
        { Opcode: WsOpcode.Binary } when _isInMessage => "a message within a message",
        _ => null,
    };
}

/// <summary>A head, a control frame, or the payload of a data frame.</summary>
internal sealed record WsItem(WsItemKind Kind, HttpHead? Head, WsOpcode Opcode, byte[] Bytes)
{
    /// <summary>How many bytes of the direction are taken once this is whole.</summary>
    public int End { get; init; }

    public int Units => Kind is WsItemKind.Data ? Bytes.Length : 1;

    public static WsItem OfHead(HttpHead? head) => new(WsItemKind.Head, head, WsOpcode.Continuation, []);

    public static WsItem OfControl(WsOpcode opcode, byte[] payload) => new(WsItemKind.Control, null, opcode, payload);

    public static WsItem OfData(byte[] payload) => new(WsItemKind.Data, null, WsOpcode.Binary, payload);
}

internal enum WsItemKind
{
    Head,
    Data,
    Control,
}
