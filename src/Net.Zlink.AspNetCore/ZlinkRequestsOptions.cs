using Net.Zlink.Services;

namespace Net.Zlink.AspNetCore;

/// <summary>Settings of one endpoint of <see cref="ZlinkRequestExtensions.MapZlinkRequests"/>. They are read once, when the endpoint is
/// mapped.</summary>
/// <remarks>Not thread-safe.</remarks>
public sealed class ZlinkRequestsOptions
{
    private const int LongestPart = 1024 * 1024;

    /// <summary>Settings with their defaults.</summary>
    public ZlinkRequestsOptions() => Receiver.Socket.MaxMessageSize = LongestPart;

    /// <summary>The services that may be asked for. Empty by default: none. Requests for others are refused with code 403.</summary>
    public ISet<string> Services { get; } = new HashSet<string>(StringComparer.Ordinal);

    /// <summary>How many requests of one connection may be open. Further ones are refused with code 429. Default 100.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is less than 1.</exception>
    public int MaxOpenRequests { get; set => field = AtLeastOne(value); } = 100;

    /// <summary>How many requests of all connections run at once. Further ones wait. Default 1,000.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is less than 1.</exception>
    public int MaxConcurrency { get; set => field = AtLeastOne(value); } = 1000;

    /// <summary>The longest time of a request, whatever time its caller gives it. Default 30 s.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is not above zero.</exception>
    public TimeSpan MaxTime
    {
        get;
        set
        {
            ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(value, TimeSpan.Zero);
            field = value;
        }
    } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// The options of the receiver that the endpoint has, such as the limits of its socket. Unlike its own default,
    /// <see cref="ZmpSocketOptions.MaxMessageSize"/> is 1 MiB.
    /// </summary>
    public ServiceReceiverOptions Receiver { get; } = new();

    private static int AtLeastOne(int value)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(value, 1);
        return value;
    }
}
