namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>A server and its clients, connected: one sending thread and one receiving thread see a single line between them.</summary>
internal interface IPatternEnds
{
    /// <summary>How often a payload travels in one exchange whose time is taken: 2 there and back, 1 there, 0 if none is taken.</summary>
    int Ways { get; }

    /// <summary>How many messages one <see cref="Send"/> makes the receiving side receive, at least on average.</summary>
    int Multiple { get; }

    /// <summary>Sends one message towards the receiving side, waiting for room.</summary>
    void Send(ReadOnlySpan<byte> payload);

    /// <summary>Waits for one message and copies it out.</summary>
    void Receive(Span<byte> payload);

    /// <summary>Waits for one message if there is none, and takes what there is, at most so many.</summary>
    int ReceiveMany(Span<byte> payload, int most);

    /// <summary>Answers the last one.</summary>
    void SendBack(ReadOnlySpan<byte> payload);

    /// <summary>Waits for the answer and copies it out.</summary>
    void ReceiveBack(Span<byte> payload);

    /// <summary>Waits until <see cref="Send"/> gets through from each client, or to each.</summary>
    void AwaitConnection();
}
