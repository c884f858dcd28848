using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

internal readonly struct StreamSource(StreamHub hub) : IMessageSource<StreamMessage>
{
    public ReceiveQueue Queue => hub.Receive;

    public StreamMessage Open(in DequeuedMessage dequeued)
    {
        if (dequeued.Notice != LaneNotice.None)
        {
            hub.OnNoticeRead();
        }

        return new StreamMessage(dequeued);
    }

    public bool Recheck() => hub.Receive.IsWorthTaking;

    public string? WhyNothingCame() => hub.PeerCount > 0 ? null
        : hub.Endpoints.Length == 0 ? ": the socket is neither bound nor connected; call Bind or ConnectAsync first"
        : ": no peer is connected";
}
