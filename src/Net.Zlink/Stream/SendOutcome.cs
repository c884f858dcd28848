using System.Threading.Tasks.Sources;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

internal sealed class SendOutcome : SendWaiter, IValueTaskSource
{
    public uint PeerId { get; set; }

    void IValueTaskSource.GetResult(short token)
    {
        uint peerId = PeerId;
        SendStatus status = GetResult(token);
        StreamSender.ThrowUnlessAccepted(status, peerId);
    }
}
