namespace Net.Zlink.Scenarios.Patterns.Ports;

/// <summary>One socket of a pattern, ours or a native one. Implemented by structs, so that the measuring loops are compiled for each and
/// call the socket directly, as a program would.</summary>
internal interface IPort
{
    /// <summary>Sends one message, waiting for room.</summary>
    void Send(ReadOnlySpan<byte> payload);

    /// <summary>False if it cannot be sent now.</summary>
    bool TrySend(ReadOnlySpan<byte> payload);

    /// <summary>Waits for one message and copies it out, as the native receive does.</summary>
    void Receive(Span<byte> payload);

    /// <summary>False if there is none.</summary>
    bool TryReceive(Span<byte> payload);

    /// <summary>Takes what there is, at most so many, in one call, and copies each out.</summary>
    int ReceiveMany(Span<byte> payload, int most);
}

/// <summary>The one socket that all others are connected to.</summary>
internal interface IServerPort : IPort
{
    /// <summary>Sends to where the last message came from.</summary>
    void Answer(ReadOnlySpan<byte> payload);
}
