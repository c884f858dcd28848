using System.Text;

namespace Net.Zlink.Services;

/// <summary>Sends what answers a message, to the connection by which it came.</summary>
internal static class AnswerFrames
{
    // One for each thread that answers: its memory is used again by the next answer.
    [ThreadStatic]
    private static MessageBuilder? t_builder;

    /// <summary>Sends an envelope with one part behind it.</summary>
    public static bool TrySend(ReceiverRequests requests, in Message received, in RequestEnvelope envelope, ReadOnlySpan<byte> payload,
        out ZlinkError error) =>
        TrySend(requests, received, Builder(envelope).Add(payload), out error);

    /// <summary>Sends an envelope with a text behind it.</summary>
    public static bool TrySend(ReceiverRequests requests, in Message received, in RequestEnvelope envelope, string text,
        out ZlinkError error)
    {
        MessageBuilder builder = Builder(envelope);
        Encoding.UTF8.GetBytes(text, builder.AddSpace(Encoding.UTF8.GetByteCount(text)));
        return TrySend(requests, received, builder, out error);
    }

    /// <summary>Sends an envelope with any number of parts behind it.</summary>
    public static bool TrySend(ReceiverRequests requests, in Message received, in RequestEnvelope envelope,
        ReadOnlySpan<ReadOnlyMemory<byte>> parts, out ZlinkError error) =>
        TrySend(requests, received, Add(Builder(envelope), parts), out error);

    /// <summary>Sends parts to where a plain message came from. An envelope goes in front only where the first part could be taken for
    /// one.</summary>
    public static bool TrySendPlain(ReceiverRequests requests, in Message received, ReadOnlySpan<ReadOnlyMemory<byte>> parts,
        out ZlinkError error) =>
        TrySend(requests, received, Add(PlainBuilder(parts.IsEmpty ? default : parts[0].Span), parts), out error);

    /// <inheritdoc cref="TrySendPlain(ReceiverRequests, in Message, ReadOnlySpan{ReadOnlyMemory{byte}}, out ZlinkError)"/>
    public static bool TrySendPlain(ReceiverRequests requests, in Message received, ReadOnlySpan<byte> payload, out ZlinkError error) =>
        RequestEnvelope.BeginsLikeOne(payload) ? TrySend(requests, received, PlainBuilder(payload).Add(payload), out error)
            : Counted(requests, requests.Socket.TrySendTo(received, payload, out error));

    /// <summary>A builder of the caller's own, for a send that waits.</summary>
    public static MessageBuilder Copy(in RequestEnvelope envelope, ReadOnlySpan<byte> payload)
    {
        var builder = new MessageBuilder();
        envelope.Write(builder.AddSpace(envelope.Size));
        return builder.Add(payload);
    }

    private static bool TrySend(ReceiverRequests requests, in Message received, MessageBuilder builder, out ZlinkError error)
    {
        bool isSent = requests.Socket.TrySendTo(received, builder, out error);
        if (!isSent)
        {
            builder.Clear();
        }

        return Counted(requests, isSent);
    }

    private static bool Counted(ReceiverRequests requests, bool isSent)
    {
        if (!isSent)
        {
            Interlocked.Increment(ref requests.Counters.LostReplies);
        }

        return isSent;
    }

    private static MessageBuilder Builder(in RequestEnvelope envelope)
    {
        MessageBuilder builder = t_builder ??= new MessageBuilder();
        builder.Clear(); // A send that threw leaves its parts.
        envelope.Write(builder.AddSpace(envelope.Size));
        return builder;
    }

    private static MessageBuilder PlainBuilder(ReadOnlySpan<byte> firstPart)
    {
        MessageBuilder builder = t_builder ??= new MessageBuilder();
        builder.Clear();
        if (RequestEnvelope.BeginsLikeOne(firstPart))
        {
            RequestEnvelope.WritePlain(builder.AddSpace(RequestEnvelope.HeaderSize));
        }

        return builder;
    }

    private static MessageBuilder Add(MessageBuilder builder, ReadOnlySpan<ReadOnlyMemory<byte>> parts)
    {
        foreach (ReadOnlyMemory<byte> part in parts)
        {
            builder.Add(part.Span);
        }

        return builder;
    }
}
