using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink;

/// <summary>How one outgoing STREAM connection is consumed and reconnected. Read when it is called for: later changes do not reach it.
/// </summary>
public sealed class StreamConnectOptions
{
    /// <summary>Gets the frames, on the connection's shard. Null (default): they are received from the socket.</summary>
    public StreamHandler? Handler { get; set; }

    /// <summary>
    /// Reconnect after a loss until it succeeds or the socket is disposed. Each new connection is a new peer with a new id; unsent messages
    /// to the old one are dropped and counted. Not before the first connection, and not after Disconnect, a protocol fault or an exception
    /// of the handler; the event ConnectGivenUp reports the last two. Default false.
    /// </summary>
    public bool Reconnect { get; set; }

    /// <summary>The pause before an attempt, above zero; a random part of it is added. Default 100 ms.</summary>
    public TimeSpan ReconnectInterval { get; set; } = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// Above zero, the pause doubles from <see cref="ReconnectInterval"/> up to this, without the random part. Default zero.
    /// </summary>
    public TimeSpan ReconnectIntervalMax { get; set; }

    /// <summary>Checks every option, as <see cref="StreamSocket.ConnectAsync(string, StreamConnectOptions, CancellationToken)"/> does.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">One has no allowed value. The message names it and says what it takes.</exception>
    public void Validate()
    {
        OptionRange.TimeAboveZero(ReconnectInterval);
        OptionRange.Time(ReconnectIntervalMax, mayBeInfinite: false);
    }

    internal ReconnectPolicy? ValidPolicy()
    {
        Validate();
        return Reconnect ? new ReconnectPolicy(ReconnectInterval, OptionRange.Time(ReconnectIntervalMax, mayBeInfinite: false)) : null;
    }
}
