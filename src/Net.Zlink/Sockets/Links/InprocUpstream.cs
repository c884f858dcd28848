using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Links;

/// <summary>What a subscriber's message says to a publisher of the same process: topics, messages, or both, which are then cut apart as
/// <see cref="InboundMessages"/> does with what a wire brings.</summary>
/// <remarks>A message comes whole, and several threads may bring one: nothing is kept from one to the next.</remarks>
internal static class InprocUpstream
{
    /// <summary>Looks for topics and for the rest.</summary>
    public static (bool Topics, bool Data) Inspect(in OutgoingMessage message, bool onlyFirst)
    {
        bool topics = false;
        bool data = false;
        SubscriptionParts upstream = default;
        PartCursor at = default;
        int parts = message.PartCount;
        for (int i = 0; i < parts; i++)
        {
            UpstreamPart kind = upstream.Next(UpstreamPart.Data, message.NextPart(ref at), i < parts - 1, onlyFirst, out _);
            topics |= kind != UpstreamPart.Data;
            data |= kind == UpstreamPart.Data;
        }

        return (topics, data);
    }

    /// <summary>Tells a publisher of the topics in a message; the rest of it is nobody's business.</summary>
    public static void Notify(InprocLink reader, in OutgoingMessage message)
    {
        SubscriptionParts upstream = default;
        PartCursor at = default;
        int parts = message.PartCount;
        for (int i = 0; i < parts; i++)
        {
            UpstreamPart kind = upstream.Next(UpstreamPart.Data, message.NextPart(ref at), i < parts - 1, reader.Socket.OnlyFirstSubscribe,
                out ReadOnlySpan<byte> prefix);
            if (kind != UpstreamPart.Data)
            {
                reader.Socket.OnSubscription(reader, prefix, kind == UpstreamPart.Subscribe);
            }
        }
    }

    /// <summary>Takes a message with both in it apart, and lets go of it: topics go to the publisher, and what stands before, between and
    /// behind them into its lane, a message for each piece.</summary>
    /// <param name="writer">The subscriber's end.</param>
    /// <param name="reader">The publisher's end; null while there is none: whoever comes is told of all topics then.</param>
    /// <param name="message">The message.</param>
    /// <param name="checkedAt">See <see cref="InboundLease.CheckedAtVersion"/>.</param>
    /// <param name="status">What became of the last piece.</param>
    /// <returns>How many pieces there were, at least 1.</returns>
    public static int Split(InprocLink writer, InprocLink? reader, in OutgoingMessage message, int checkedAt, out SendStatus status)
    {
        // The pieces refer to the parts where they lie: none is copied.
        InboundLease whole = message.MoveToLease(writer.Socket.Host.Slabs);
        InboundLease? open = null;
        bool onlyFirst = (reader ?? writer).Socket.OnlyFirstSubscribe;
        int pieces = 0;
        status = SendStatus.Accepted;
        SubscriptionParts upstream = default;
        int parts = whole.PartsOf(0);
        for (int i = 0; i < parts; i++)
        {
            (Slab slab, int offset, int length) = whole.OffsetOf(i);
            bool ends = i == parts - 1;
            UpstreamPart kind = upstream.Next(UpstreamPart.Data, slab.Array.AsSpan(offset, length), !ends, onlyFirst,
                out ReadOnlySpan<byte> prefix);
            bool isPart = kind == UpstreamPart.Data;
            if (!isPart)
            {
                // Behind data of the same message, what would be a notice is that message's last part, and ends it: InboundMessages says
                // why.
                SubscriptionOutcome outcome = reader is null ? SubscriptionOutcome.Silent
                    : reader.Socket.OnSubscription(reader, prefix, kind == UpstreamPart.Subscribe, notifies: open is null);
                isPart = open is not null && outcome == SubscriptionOutcome.Notify;
                ends |= isPart;
            }

            if (isPart)
            {
                slab.AddReference();
                open ??= InboundLease.Rent(slab: null, source: null);
                open.AddPart(slab, offset, length);
            }

            if (ends && open is not null)
            {
                pieces++;
                open.EndMessage();
                status = writer.AppendPiece(new OutgoingMessage(open, 0), checkedAt);
                open.Release(0, open.GenerationOf(0));
                open = null;
            }
        }

        whole.Release(0, whole.GenerationOf(0));
        return pieces;
    }
}
