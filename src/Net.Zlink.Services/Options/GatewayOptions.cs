namespace Net.Zlink.Services;

/// <summary>Options of a <see cref="Gateway"/>, fixed when it is made.</summary>
public sealed record GatewayOptions
{
    /// <summary>What the gateway calls itself to receivers. Empty (default): 16 random bytes.</summary>
    /// <remarks>A native receiver closes the connection of one gateway when another one of the same id comes.</remarks>
    public RoutingId RoutingId { get; init; }

    /// <summary>Most messages that wait for one receiver, and most unread ones of one. Default 1,000,000, as in the native core.</summary>
    public int HighWaterMark { get; init; } = 1_000_000;

    /// <summary>How long a blocking send waits for a full queue. Default 50 ms, as in the native core.</summary>
    public TimeSpan SendTimeout { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>How long after its end the gateway waits for the replies to its requests, and then goes on delivering what was accepted.
    /// Default 1 s; the native core delivers nothing.</summary>
    public TimeSpan Linger { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>How long a request waits for its reply where the call names no time; <see cref="Timeout.InfiniteTimeSpan"/> for as long as
    /// it takes. Default 5 s.</summary>
    public TimeSpan RequestTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How long the connection to a receiver stays that is not listed any more, for the replies that are on their way. Default 5
    /// s; the native core cuts it at once.</summary>
    public TimeSpan RemovedEndpointTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A receiver whose queue is full, or whose connection was just lost, passes its turn to the next one. Default true;
    /// false in the native core.</summary>
    public bool TryNextWhenFull { get; init; } = true;

    /// <summary>Most messages other than replies that wait to be received. Beyond it the gateway stops reading. Once it has sent a request
    /// it drops instead, and counts: the oldest message of the receiver that has most. Default 100,000.</summary>
    /// <remarks>A gateway that has neither sent a message without a request nor received keeps none, and counts them as dropped.</remarks>
    public int UnreadMessageLimit { get; init; } = 100_000;

    /// <summary>Most bytes of these messages, with 128 for each message; of one receiver a quarter of it. At the limit as for
    /// <see cref="UnreadMessageLimit"/>. They count in <see cref="ZlinkContextOptions.QueuedByteLimit"/>, too. Default 16 MiB.</summary>
    public long UnreadByteLimit { get; init; } = 16L * 1024 * 1024;

    /// <summary>Most receivers that are dialled at a time. A quarter is kept for those that were never tried, and a quarter for those that
    /// were connected. While others wait, one that does not answer has 1 s, and more with each attempt. Default 64.</summary>
    public int MaxConcurrentDials { get; init; } = 64;

    /// <summary>Most receivers of one service that are dialled or connected. Where more are listed, others take the place of those that
    /// fail or leave; <see cref="ReceiverLinkInfo.WhyNotReady"/> says who waits. Default 1,000.</summary>
    public int MaxConnectedEndpoints { get; init; } = 1_000;

    /// <summary>After so much silence the gateway asks a receiver whether it is there. Default 1 s; zero: never, as in the native
    /// core.</summary>
    /// <remarks>docs/protocol.md section 14 says when heartbeats are sent, and how often to receivers of which there are more than
    /// 250.</remarks>
    public TimeSpan HeartbeatInterval { get; init; } = ServiceHeartbeats.Interval;

    /// <summary>How long a receiver may leave that unanswered; then its connection ends, and its requests with it. Null (default): 3 s, and
    /// 5 min in the Development environment of a host.</summary>
    public TimeSpan? HeartbeatTimeout { get; init; }

    /// <summary>Of how much silence a receiver may take the gateway for gone. Null (default): 15 s, or the timeout if that is longer.
    /// Longer than <see cref="HeartbeatInterval"/>.</summary>
    public TimeSpan? HeartbeatTtl { get; init; }

    /// <summary>Takes a receiver out that left so many requests in a row unanswered, each for a second at least, while others answered: for
    /// 5 s, and up to 60 s if it goes on. Never more than half of a service. Default 5; zero: never.</summary>
    public int EjectAfterTimeouts { get; init; } = 5;

    /// <summary>A request waits within its time until the service has its first receiver, as while a process starts. Once it had one,
    /// requests fail at once where none is ready. Default false: they do so from the beginning. True in a host.</summary>
    public bool WaitForReady { get; init; }

    /// <summary>Which endpoints of the directory are connected to. The link of one that is not has
    /// <see cref="ReceiverLinkInfo.WhyNotReady"/>, and is in the log once.</summary>
    public DirectoryEndpointOptions DirectoryEndpoints { get; init; } = new();

    /// <summary>Sets further options of the socket, such as TLS, before the first connection. Mandatory, Immediate and OnDuplicateRoutingId
    /// are the gateway's own.</summary>
    public Action<RouterOptions>? ConfigureSocket { get; init; }

    internal long UnreadBytesOfLink => UnreadByteLimit / 4;

    internal void Validate()
    {
        CheckCount(HighWaterMark, least: 0, nameof(HighWaterMark));
        DirectoryEndpoints.Validate();
        CheckCount(MaxConcurrentDials, least: 1, nameof(MaxConcurrentDials));
        CheckCount(MaxConnectedEndpoints, least: 1, nameof(MaxConnectedEndpoints));
        CheckCount(UnreadMessageLimit, least: 1, nameof(UnreadMessageLimit));
        CheckCount(UnreadByteLimit, least: 1, nameof(UnreadByteLimit));
        CheckCount(EjectAfterTimeouts, least: 0, nameof(EjectAfterTimeouts));
        CheckTime(HeartbeatInterval, nameof(HeartbeatInterval));
        CheckTime(SendTimeout, nameof(SendTimeout));
        CheckTime(Linger, nameof(Linger));
        CheckTime(RequestTimeout, nameof(RequestTimeout));
        CheckTime(RemovedEndpointTimeout, nameof(RemovedEndpointTimeout));
    }

    internal static void CheckCount(long count, long least, string name)
    {
        if (count < least)
        {
            throw new ArgumentOutOfRangeException(name, count, $"This is {least} or more.");
        }
    }

    internal static void CheckDefined<T>(T value, string name)
        where T : struct, Enum
    {
        if (!Enum.IsDefined(value))
        {
            throw new ArgumentOutOfRangeException(name, value, $"There is no such {typeof(T).Name}.");
        }
    }

    internal static void CheckPositive(TimeSpan time, string name)
    {
        if (time <= TimeSpan.Zero)
        {
            throw new ArgumentOutOfRangeException(name, time, "A time is greater than zero.");
        }
    }

    internal static TimeSpan CheckTime(TimeSpan time, string name) => time >= TimeSpan.Zero || time == Timeout.InfiniteTimeSpan ? time
        : throw new ArgumentOutOfRangeException(name, time, "A time is zero, positive or infinite.");
}
