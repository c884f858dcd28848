namespace Net.Zlink;

/// <summary>How one outgoing STREAM connection is consumed and reconnected.</summary>
public sealed record StreamConnectOptions
{
    /// <summary>Gets the frames, on the connection's shard. Null (default): they are received from the socket.</summary>
    public StreamHandler? Handler { get; init; }

    /// <summary>
    /// Reconnect after a loss until it succeeds or the socket is disposed. Each new connection is a new peer with a new id; unsent messages
    /// to the old one are dropped and counted. Not before the first connection, and not after Disconnect, a protocol fault or an exception
    /// of the handler. Default false.
    /// </summary>
    public bool Reconnect { get; init; }

    /// <summary>The pause before an attempt; a random part of it is added. Default 100 ms.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is not positive.</exception>
    public TimeSpan ReconnectInterval { get; init => field = OptionRange.TimeAboveZero(value); } = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// Above zero, the pause doubles from <see cref="ReconnectInterval"/> up to this, without the random part. Default zero.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan ReconnectIntervalMax { get; init => field = OptionRange.Time(value, mayBeInfinite: false); }
}
