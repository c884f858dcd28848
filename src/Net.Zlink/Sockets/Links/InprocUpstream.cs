using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Links;

/// <summary>Messages come whole, and from several threads, so no state is kept between them.</summary>
internal static class InprocUpstream
{
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

    /// <summary>Each piece between two topics becomes a message in the publisher's lane.</summary>
    public static int Split(InprocLink writer, InprocLink? reader, in OutgoingMessage message, int checkedAt, out SendStatus status)
    {
        InboundLease whole = message.MoveToLease(writer.Socket.Host.Slabs);
        InboundLease? open = null;
        bool onlyFirst = (reader ?? writer).Socket.OnlyFirstSubscribe;
        int pieces = 0;
        status = SendStatus.Accepted;
        SubscriptionParts upstream = default;
        int parts = whole.PartsOf(0);
        for (int i = 0; i < parts; i++)
        {
            (Slab slab, int offset, int length) = whole.PartAt(i);
            bool ends = i == parts - 1;
            UpstreamPart kind = upstream.Next(UpstreamPart.Data, slab.Array.AsSpan(offset, length), !ends, onlyFirst,
                out ReadOnlySpan<byte> prefix);
            bool isPart = kind == UpstreamPart.Data;
            if (!isPart)
            {
                // After data of the same message, a notice would be that message's last part: see InboundMessages.
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
