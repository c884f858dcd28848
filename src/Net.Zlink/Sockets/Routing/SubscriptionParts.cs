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
/// a message, ours as a message of one part.
/// </summary>
internal static class SubscriptionParts
{
    private const byte CancelByte = 0;
    private const byte SubscribeByte = 1;

    public static UpstreamPart KindOf(ReadOnlySpan<byte> body, out ReadOnlySpan<byte> prefix)
    {
        UpstreamPart kind = body switch
        {
            [SubscribeByte, ..] => UpstreamPart.Subscribe,
            [CancelByte, ..] => UpstreamPart.Cancel,
            _ => UpstreamPart.Data,
        };
        prefix = kind == UpstreamPart.Data ? [] : body[1..];
        return kind;
    }

    /// <summary>What a message of our own is.</summary>
    public static UpstreamPart KindOf(in OutgoingMessage message, out ReadOnlySpan<byte> prefix) =>
        KindOf(message.PartCount == 1 ? message.FirstPart : [], out prefix);
}
