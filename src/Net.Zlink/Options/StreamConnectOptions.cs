namespace Net.Zlink;

/// <summary>How one outgoing STREAM connection is consumed and kept.</summary>
public sealed record StreamConnectOptions
{
    /// <summary>Gets the frames, on the connection's shard. Null (default): they are received from the socket.</summary>
    public StreamHandler? Handler { get; init; }

    /// <summary>
    /// After a loss, connect again until it succeeds or the socket is disposed. Each new connection is a new peer with a new id and is
    /// announced as one; what was not delivered to the old one is dropped and counted. Not before the first connection: where that attempt
    /// fails, ConnectAsync throws. Not after Disconnect, a protocol fault or a handler that threw. Default false.
    /// </summary>
    public bool Reconnect { get; init; }

    /// <summary>The pause before an attempt: this plus a random part of it. Default 100 ms.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is not positive.</exception>
    public TimeSpan ReconnectInterval { get; init => field = OptionRange.TimeAboveZero(value); } = TimeSpan.FromMilliseconds(100);

    /// <summary>With a value above zero the pause doubles from <see cref="ReconnectInterval"/> up to this, without the random part. Default
    /// zero.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan ReconnectIntervalMax { get; init => field = OptionRange.Time(value, mayBeInfinite: false); }
}
