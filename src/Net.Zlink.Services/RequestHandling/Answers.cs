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
    public static bool TrySend(ReceiverRequests requests, in Message received, in RequestEnvelope envelope, string text) =>
        TrySend(requests, received, Begin(envelope, text), out _);

    /// <summary>Sends an envelope with a text behind it to a peer, not in answer to a message.</summary>
    public static bool TrySend(ReceiverRequests requests, PeerInfo peer, in RequestEnvelope envelope, string text) =>
        requests.Socket.TrySend(peer.RoutingId.Span, Begin(envelope, text));

    public static bool TrySend(ReceiverRequests requests, in Message received, MessageBuilder answer, out ZlinkError error)
    {
        bool isSent = requests.Socket.TrySendTo(received, answer, out error);
        if (!isSent)
        {
            Interlocked.Increment(ref requests.Counters.LostReplies);
        }

        return isSent;
    }

    private static MessageBuilder Begin(in RequestEnvelope envelope, string text) => Empty().AddEnvelope(envelope).Add(text);
}
