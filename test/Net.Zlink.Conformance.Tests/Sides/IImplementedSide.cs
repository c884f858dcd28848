using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Sides;

/// <summary>
/// The application of the side under test, in the native core's shape: messages are lists of parts, errors are names. One instance plays
/// one replay;
/// only the replay's own flow calls it. Nothing in here waits except where a task says so.
/// </summary>
internal interface IImplementedSide : IAsyncDisposable
{
    /// <summary>Opens a monitor for DISCONNECTED, CONNECTION_READY and the three HANDSHAKE_FAILED events.</summary>
    void OpenMonitor();

    /// <summary>Binds and returns the resolved endpoint, with the real port.</summary>
    string Bind(string endpoint);

    /// <summary>Starts to connect; it does not wait for the connection.</summary>
    void Connect(string endpoint);

    void Set(SideOption option);

    void Subscribe(byte[] topic);

    void Unsubscribe(byte[] topic);

    /// <summary>Sends all parts, each but the last with "more to come". Returns the name of the error that ended it, or null.</summary>
    string? Send(IReadOnlyList<byte[]> parts);

    /// <summary>The application closes the socket. Later receives find nothing.</summary>
    void Close();

    bool TryReceive(out ReceivedMessage message);

    ValueTask<ReceivedMessage> ReceiveAsync(CancellationToken cancellation);

    bool TryReadEvent(out ReceivedEvent received);

    ValueTask<ReceivedEvent> ReadEventAsync(CancellationToken cancellation);

    /// <summary>Completes when the implementation has no runnable work: all it has read from its connections, and given to its shards, is
    /// dealt with. In memory it runs that work itself, and returns when it is done.</summary>
    Task WhenIdleAsync();

    /// <summary>After disposal: who rented the buffers that never came back.</summary>
    IReadOnlyList<string> GetOutstandingBuffers();
}

/// <summary>A message as the application got it. <paramref name="Kind"/>: what it is told beside the payload, when it was asked
/// for.</summary>
internal sealed record ReceivedMessage(IReadOnlyList<byte[]> Parts, IReadOnlyDictionary<string, string>? Properties = null,
    string? Kind = null);

/// <summary>An event as the monitor got it. Events of one <paramref name="Connection"/> (any text that tells them apart) are compared in
/// order.</summary>
internal sealed record ReceivedEvent(string Name, long Value, byte[] RoutingId, string Connection)
{
    /// <summary>The implementation's own port of the connection, where it was the one to connect; 0 where that is not told.</summary>
    public int LocalPort { get; init; }
}
