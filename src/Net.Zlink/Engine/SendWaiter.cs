using System.Buffers;
using Net.Zlink.Protocol;

namespace Net.Zlink.Engine;

/// <summary>A send that waits for room below the high-water mark; the shard appends its payload when there is room.</summary>
internal class SendWaiter : Waiter<SendStatus>
{
    public FrameHeader Header { get; set; }

    public ReadOnlyMemory<byte> Payload { get; set; }

    /// <summary>The owner of the payload where it was handed over. The queue disposes it if it accepts the payload; otherwise the sender does.</summary>
    public IMemoryOwner<byte>? Owner { get; set; }

    /// <summary>Why the payload could not be read when its turn came.</summary>
    internal Exception? Failure { get; set; }

    protected override void Clear()
    {
        base.Clear();
        Payload = default;
        Owner = null;
        Failure = null;
    }
}
