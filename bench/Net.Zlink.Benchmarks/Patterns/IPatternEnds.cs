namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>Two connected sockets. Implemented by structs, so that the measuring loops are compiled for each and call the sockets directly, as a program would.</summary>
internal interface IPatternEnds
{
    /// <summary>There is a way back; without one there are no round trips.</summary>
    static abstract bool HasWayBack { get; }

    /// <summary>The socket that receives in the throughput measurement.</summary>
    ReceivingSocket Receiver { get; }

    /// <summary>Sends one message to <see cref="Receiver"/>, waiting for room.</summary>
    void Send(ReadOnlySpan<byte> payload);

    /// <summary>Waits for one message and copies it out, as the native receive does.</summary>
    void Receive(Span<byte> payload);

    /// <summary>Answers.</summary>
    void SendBack(ReadOnlySpan<byte> payload);

    /// <summary>Waits for the answer and copies it out.</summary>
    void ReceiveBack(Span<byte> payload);

    /// <summary>Waits until <see cref="Send"/> gets through.</summary>
    void AwaitConnection();
}
