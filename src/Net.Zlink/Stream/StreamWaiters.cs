using System.Threading.Tasks.Sources;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class MessageWaiter : PullWaiter, IValueTaskSource<StreamMessage>
{
    StreamMessage IValueTaskSource<StreamMessage>.GetResult(short token) => new(GetResult(token), 0);
}

internal sealed class BatchWaiter : PullWaiter, IValueTaskSource<int>
{
    public Memory<StreamMessage> Destination { get; set; }

    int IValueTaskSource<int>.GetResult(short token)
    {
        // Read first: the result returns the waiter for reuse.
        Memory<StreamMessage> destination = Destination;
        PulledRun run = GetResult(token);
        return StreamReceiver.Unpack(run, destination.Span);
    }

    protected override void Clear()
    {
        base.Clear();
        Destination = default;
    }
}

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
