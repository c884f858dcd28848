using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Engine;

/// <summary>Several messages of the application at once.</summary>
internal sealed partial class OutboundQueue
{
    /// <summary>Appends short messages of one part under one lock, as many of the first ones as are accepted.</summary>
    /// <returns>How many. A large one, and any where the queue keeps only the newest, are for <see cref="TryAppend"/>.</returns>
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

                _backlog.Add(new OutgoingMessage(ZmpFrame.HeaderOf(ZmpFlags.None, (uint)payload.Length), payload), out _);
                bytes += payload.Length;
                count++;
            }

            schedule = count > 0 && AcquireFlush();
        }

        return count;
    }
}
