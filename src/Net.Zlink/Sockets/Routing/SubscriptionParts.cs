using System.Runtime.InteropServices;

namespace Net.Zlink.Sockets.Routing;

internal enum UpstreamPart
{
    Data,

    Subscribe,

    Cancel,
}

/// <summary>
/// A subscription has a frame kind of its own, or is an ordinary part whose first byte is 1 or 0. With ONLY_FIRST_SUBSCRIBE a message whose
/// first part is data is all data.
/// </summary>
[StructLayout(LayoutKind.Auto)]
internal struct SubscriptionParts
{
    private const byte CancelByte = 0;
    private const byte SubscribeByte = 1;

    private bool _isInMessage;
    private bool _remainingIsData;

    public UpstreamPart Next(UpstreamPart frame, ReadOnlySpan<byte> body, bool more, bool onlyFirst, out ReadOnlySpan<byte> prefix)
    {
        bool isFirst = !_isInMessage;
        _isInMessage = more;
        UpstreamPart kind = !isFirst && _remainingIsData ? UpstreamPart.Data : Classify(frame, body);
        if (isFirst)
        {
            _remainingIsData = onlyFirst && kind == UpstreamPart.Data;
        }

        prefix = kind == UpstreamPart.Data ? [] : body[(frame == UpstreamPart.Data ? 1 : 0)..];
        return kind;
    }

    public void Reset() => this = default;

    private static UpstreamPart Classify(UpstreamPart frame, ReadOnlySpan<byte> body)
    {
        if (frame != UpstreamPart.Data || body.IsEmpty)
        {
            return frame;
        }

        return body[0] switch
        {
            SubscribeByte => UpstreamPart.Subscribe,
            CancelByte => UpstreamPart.Cancel,
            _ => UpstreamPart.Data,
        };
    }
}
