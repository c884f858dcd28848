using System.Runtime.InteropServices;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Routing;

internal enum UpstreamPart
{
    Data,

    Subscribe,

    Cancel,
}

/// <summary>
/// A subscription has a frame kind of its own, or is an ordinary part whose first byte is 1 or 0. A native XSUB may send it in any part of
/// a message, ours as a message of one part. With ONLY_FIRST_SUBSCRIBE a message whose first part is data is all data.
/// </summary>
[StructLayout(LayoutKind.Auto)]
internal struct SubscriptionParts
{
    private const byte CancelByte = 0;
    private const byte SubscribeByte = 1;

    private bool _isInMessage;
    private bool _remainingIsData;

    public UpstreamPart Next(ReadOnlySpan<byte> body, bool more, bool onlyFirst, out ReadOnlySpan<byte> prefix)
    {
        bool isFirst = !_isInMessage;
        _isInMessage = more;
        UpstreamPart kind = !isFirst && _remainingIsData ? UpstreamPart.Data : Classify(body);
        if (isFirst)
        {
            _remainingIsData = onlyFirst && kind == UpstreamPart.Data;
        }

        prefix = kind == UpstreamPart.Data ? [] : body[1..];
        return kind;
    }

    public void Reset() => this = default;

    /// <summary>What a message of our own is.</summary>
    public static UpstreamPart KindOf(in OutgoingMessage message, out ReadOnlySpan<byte> prefix) =>
        default(SubscriptionParts).Next(message.PartCount == 1 ? message.FirstPart : [], false, false, out prefix);

    private static UpstreamPart Classify(ReadOnlySpan<byte> body) => body switch
    {
        [SubscribeByte, ..] => UpstreamPart.Subscribe,
        [CancelByte, ..] => UpstreamPart.Cancel,
        _ => UpstreamPart.Data,
    };
}
