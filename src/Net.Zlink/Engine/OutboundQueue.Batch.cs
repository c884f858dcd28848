using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Engine;

internal sealed partial class OutboundQueue
{
    public int TryAppendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out bool schedule)
    {
        int count = 0;
        int bytes = 0;
        using (_gate.EnterScope())
        {
            while (count < payloads.Length && bytes < OutboundChain.LargePayload && !Conflates)
            {
                ReadOnlySpan<byte> payload = payloads[count].Span;
                if (payload.Length >= OutboundChain.LargePayload || Admit() != SendStatus.Accepted)
                {
                    break;
                }

                try
                {
                    _backlog.Add(new OutgoingMessage(ZmpFrame.HeaderOf(ZmpFlags.None, (uint)payload.Length), payload), out _);
                }
                catch (OutOfMemoryException)
                {
                    break; // Those before it are queued; the send of this one alone has the reason.
                }

                bytes += payload.Length;
                count++;
            }

            schedule = count > 0 && AcquireFlush();
        }

        return count;
    }
}
