namespace Net.Zlink.Services;

/// <summary>Options of a <see cref="ServiceGateway"/>. Copied when it is made.</summary>
public sealed class ServiceGatewayOptions
{
    private const int HighWaterMark = 1_000_000;

    /// <summary>The options of the socket that is connected to the receivers. <see cref="RouterOptions.Mandatory"/>,
    /// <see cref="ZmpSocketOptions.Immediate"/> and <see cref="RouterOptions.OnDuplicateRoutingId"/> are the gateway's own.</summary>
    /// <remarks>
    /// <para>These are its defaults where they are not those of a ROUTER:</para>
    /// <list type="table">
    /// <item><term>SendHighWaterMark, ReceiveHighWaterMark</term><description>1,000,000, as in the native core.</description></item>
    /// <item><term>SendTimeout</term><description>50 ms, as in the native core: how long a blocking send waits for a full
    /// queue.</description></item>
    /// <item><term>Linger</term><description>1 s: how long after its end the gateway waits for the replies to its requests, and then goes
    /// on delivering what was accepted. The native core delivers nothing.</description></item>
    /// <item><term>HeartbeatInterval</term><description>1 s of silence; zero: no heartbeats, as in the native core.</description></item>
    /// <item><term>HeartbeatTimeout</term><description>3 s, and 5 min in the Development environment of a host; then the connection of a
    /// receiver that does not answer ends, and its requests with it.</description></item>
    /// <item><term>HeartbeatTtl</term><description>15 s, or the timeout if that is longer: of how much silence a receiver may take the
    /// gateway for gone.</description></item>
    /// </list>
    /// <para>docs/protocol.md section 14 says when heartbeats are sent, and how often to receivers of which there are more than 250. A
    /// native receiver closes the connection of one gateway when another one with the same routing id comes.</para>
    /// </remarks>
    public RouterOptions Socket { get; private set; } = ServiceHeartbeats.Defaults(new RouterOptions
    {
        SendHighWaterMark = HighWaterMark,
        ReceiveHighWaterMark = HighWaterMark,
        SendTimeout = TimeSpan.FromMilliseconds(50),
        Linger = TimeSpan.FromSeconds(1),
    });

    /// <summary>How long a request waits for its reply where the call names no time; <see cref="Timeout.InfiniteTimeSpan"/> for as long as
    /// it takes. Default 5 s.</summary>
    public TimeSpan RequestTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long the connection to a receiver stays that is not listed any more, for the replies that are on their way. Default 5
    /// s; the native core cuts it at once.</summary>
    public TimeSpan RemovedEndpointTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>A receiver whose queue is full, or whose connection was just lost, passes its turn to the next one. Default true;
    /// false in the native core.</summary>
    public bool TryNextWhenFull { get; set; } = true;

    /// <summary>Most messages other than replies that wait to be received. Beyond it the gateway stops reading. Once it has sent a request
    /// it drops instead, and counts: the oldest message of the receiver that has most. Default 100,000.</summary>
    /// <remarks>A gateway that has neither sent a message without a request nor received keeps none, and counts them as dropped.</remarks>
    public int UnreadMessageLimit { get; set; } = 100_000;

    /// <summary>Most bytes of these messages, with 128 for each message; of one receiver a quarter of it. At the limit as for
    /// <see cref="UnreadMessageLimit"/>. They count in <see cref="ZlinkContextOptions.QueuedByteLimit"/>, too. Default 16 MiB.</summary>
    public long UnreadByteLimit { get; set; } = 16L * 1024 * 1024;

    /// <summary>Most receivers that are dialled at a time. A quarter is kept for those that were never tried, and a quarter for those that
    /// were connected. While others wait, one that does not answer has 1 s, and more with each attempt. Default 64.</summary>
    public int MaxConcurrentDials { get; set; } = 64;

    /// <summary>Most receivers of one service that are dialled or connected. Where more are listed, others take the place of those that
    /// fail or leave; <see cref="ReceiverLinkInfo.WhyNotReady"/> says who waits. Default 1,000.</summary>
    public int MaxConnectedEndpoints { get; set; } = 1_000;

    /// <summary>Takes a receiver out that left so many requests in a row unanswered, each for a second at least, while others answered: for
    /// 5 s, and up to 60 s if it goes on. Never more than half of a service. Default 5; zero: never.</summary>
    public int EjectAfterTimeouts { get; set; } = 5;

    /// <summary>A request waits within its time until the service has its first receiver, as while a process starts. Once it had one,
    /// requests fail at once where none is ready. Default false: they do so from the beginning. True in a host.</summary>
    public bool WaitForReady { get; set; }

    /// <summary>Which endpoints of the directory are connected to. The link of one that is not has
    /// <see cref="ReceiverLinkInfo.WhyNotReady"/>, and is in the log once.</summary>
    public DirectoryEndpointOptions DirectoryEndpoints { get; private set; } = new();

    internal long UnreadBytesOfLink => UnreadByteLimit / 4;

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentException">One is out of its range; the message names the property and says what it takes.</exception>
    public void Validate()
    {
        OptionRange.Time(RequestTimeout, mayBeInfinite: true);
        OptionRange.Time(RemovedEndpointTimeout, mayBeInfinite: true);
        OptionRange.InRange(UnreadMessageLimit, 1);
        OptionRange.InRange(UnreadByteLimit, 1);
        OptionRange.InRange(MaxConcurrentDials, 1);
        OptionRange.InRange(MaxConnectedEndpoints, 1);
        OptionRange.InRange(EjectAfterTimeouts, 0);
        DirectoryEndpoints.Validate();
    }

    internal ServiceGatewayOptions ValidCopy()
    {
        Validate();
        var copy = (ServiceGatewayOptions)MemberwiseClone();
        copy.Socket = ServiceHeartbeats.Completed(Socket.Copy());
        copy.DirectoryEndpoints = DirectoryEndpoints.Copy();
        return copy;
    }
}
