using Net.Zlink.Sockets.Patterns;

namespace Net.Zlink;

/// <summary>What PUB and XPUB have in common: several messages of two parts under one topic.</summary>
internal static class TopicBatch
{
    public static int SendMany(
        PublisherCore core, MessageSender sender, ReadOnlySpan<byte> topic, ReadOnlySpan<ReadOnlyMemory<byte>> payloads)
    {
        int sent = 0;
        bool inRuns = !sender.Conflates;
        using var rented = new RentedBuilder();
        try
        {
            while (sent < payloads.Length)
            {
                int run = inRuns ? core.TrySendTopic(topic, payloads[sent..]) : 0;
                if (run == 0)
                {
                    // There are several subscribers, or the only one cannot take a run: the way of a single message has the reason.
                    inRuns = false;
                    rented.Message.Clear();
                    if (!sender.TrySend(default, rented.Message.Add(topic).Add(payloads[sent].Span)))
                    {
                        break;
                    }
                }

                sent += Math.Max(run, 1);
            }
        }
        catch (ZlinkException) when (sent > 0)
        {
            // The number of accepted messages must be returned; the next call throws.
        }

        return sent;
    }
}
