namespace Net.Zlink.Services;

/// <summary>Sends what answers a message, to the connection by which it came.</summary>
internal static class Answers
{
    // One for each thread that answers: its memory is used again by the next answer.
    [ThreadStatic]
    private static MessageBuilder? t_builder;

    /// <summary>An empty builder, for an answer that this thread sends before it begins another.</summary>
    public static MessageBuilder Empty()
    {
        MessageBuilder builder = t_builder ??= new MessageBuilder();
        builder.Clear(); // A send that was not accepted leaves its parts.
        return builder;
    }

    /// <summary>Sends an envelope with a text behind it.</summary>
    public static SendResult TrySend(ReceiverRequests requests, in Message received, in RequestEnvelope envelope, string text) =>
        TrySend(requests, received, Begin(envelope, text));

    /// <summary>Sends an envelope with a text behind it to a peer, not in answer to a message.</summary>
    public static bool TrySend(ReceiverRequests requests, PeerInfo peer, in RequestEnvelope envelope, string text) =>
        requests.Socket.To(peer.RoutingId).TrySend(Begin(envelope, text));

    public static SendResult TrySend(ReceiverRequests requests, in Message received, MessageBuilder answer)
    {
        SendResult result = requests.Socket.To(received).TrySend(answer);
        if (!result)
        {
            Interlocked.Increment(ref requests.Counters.LostReplies);
        }

        return result;
    }

    private static MessageBuilder Begin(in RequestEnvelope envelope, string text) => Empty().AddEnvelope(envelope).Add(text);
}
