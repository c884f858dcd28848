using NATS.Client.KeyValueStore;

namespace Net.Zlink.Extensions.Nats;

/// <summary>The bucket that receivers and gateways share, and how it is used.</summary>
public sealed record NatsServiceOptions
{
    /// <summary>The name of the key-value bucket. It is made, with the values below, where it does not exist.
    /// <c>zlink-services</c>.</summary>
    public string Bucket { get; init; } = "zlink-services";

    /// <summary>How long an entry lives that is not renewed; a third of it is the interval of renewal. Of a bucket that exists its own
    /// maximum age counts. At least 1 s. 15 s.</summary>
    public TimeSpan Lease { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Where a new bucket is stored. Entries are renewed all the time, so memory suffices: after a restart of the server they are
    /// written again.</summary>
    public NatsKVStorageType Storage { get; init; } = NatsKVStorageType.Memory;

    /// <summary>How many servers of a cluster have a new bucket. 1 or more. 1.</summary>
    public int Replicas { get; init; } = 1;

    /// <summary>Most entries that a directory follows; further ones are ignored, with a warning in the log. 1 or more. 10,000.</summary>
    public int MaxInstances { get; init; } = 10_000;

    internal static NatsServiceOptions Checked(NatsServiceOptions? options)
    {
        options ??= new NatsServiceOptions();
        ArgumentException.ThrowIfNullOrEmpty(options.Bucket, nameof(options));
        ArgumentOutOfRangeException.ThrowIfLessThan(options.Lease, TimeSpan.FromSeconds(1), nameof(options));
        ArgumentOutOfRangeException.ThrowIfLessThan(options.Replicas, 1, nameof(options));
        ArgumentOutOfRangeException.ThrowIfLessThan(options.MaxInstances, 1, nameof(options));
        return options;
    }
}
