using System.Runtime.InteropServices;

namespace Net.Zlink.Sockets.Routing;

/// <summary>The kind of a part from a subscriber to a publisher.</summary>
internal enum UpstreamPart
{
    /// <summary>A message of the application, or a part of one.</summary>
    Data,

    Subscribe,

    Cancel,
}

/// <summary>
/// Separates subscriptions from data in the messages of one peer, or of an application that sends on XSUB, part by part. One for each peer.
/// </summary>
/// <remarks>
/// A subscription has a frame kind of its own, or is an ordinary part whose first byte is 1 or 0. With ONLY_FIRST_SUBSCRIBE a message whose
/// first part is data is all data. Otherwise every part is checked.
/// </remarks>
[StructLayout(LayoutKind.Auto)]
internal struct SubscriptionParts
{
    private const byte CancelByte = 0;
    private const byte SubscribeByte = 1;

    private bool _isInMessage;
    private bool _remainingIsData;

    /// <summary>Reads the next part.</summary>
    /// <param name="frame">The kind of its frame.</param>
    /// <param name="body">Its body.</param>
    /// <param name="more">Another part of the same message follows.</param>
    /// <param name="onlyFirst">The option ONLY_FIRST_SUBSCRIBE.</param>
    /// <param name="prefix">The prefix of the subscription. Empty for data.</param>
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

    /// <summary>The message was abandoned: the next part is a first one.</summary>
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
