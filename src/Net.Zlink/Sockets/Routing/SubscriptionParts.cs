using System.Runtime.InteropServices;

namespace Net.Zlink.Sockets.Routing;

/// <summary>What a part that travels from a subscriber to a publisher is.</summary>
internal enum UpstreamPart
{
    /// <summary>A user's message, or part of one.</summary>
    Data,

    Subscribe,

    Cancel,
}

/// <summary>Tells subscriptions from data in the messages of one peer, or of an application that sends on XSUB, part by part. The owner
/// keeps one per peer.</summary>
/// <remarks>
/// Subscriptions come as frames of their own kind or as ordinary parts whose first byte is 1 or 0. With ONLY_FIRST_SUBSCRIBE a message
/// whose first part is data is data to its end; otherwise every part is looked at.
/// </remarks>
[StructLayout(LayoutKind.Auto)]
internal struct SubscriptionParts
{
    private const byte CancelByte = 0;
    private const byte SubscribeByte = 1;

    private bool _isInMessage;
    private bool _remainingIsData;

    /// <summary>Looks at the next part.</summary>
    /// <param name="frame">The kind of the frame it came in.</param>
    /// <param name="body">The frame's body.</param>
    /// <param name="more">Whether another part of the same message follows.</param>
    /// <param name="onlyFirst">The option ONLY_FIRST_SUBSCRIBE.</param>
    /// <param name="prefix">The prefix that is subscribed or cancelled; empty for data.</param>
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

    /// <summary>The peer is gone, or its message was given up: the next part is a first one.</summary>
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
