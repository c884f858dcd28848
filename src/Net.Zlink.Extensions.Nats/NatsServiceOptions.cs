using NATS.Client.KeyValueStore;

namespace Net.Zlink.Extensions.Nats;

/// <summary>The bucket that receivers and gateways share, and how it is used.</summary>
public sealed record NatsServiceOptions
{
    /// <summary>The name of the key-value bucket. A missing bucket is created with the values below. Default:
    /// <c>zlink-services</c>.</summary>
    public string Bucket { get; init; } = "zlink-services";

    /// <summary>How long an entry lives without renewal; entries are renewed after a third of it. An existing bucket keeps its own maximum
    /// age, which then applies. At least 1 second. Default: 15 seconds.</summary>
    public TimeSpan Lease { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Where a new bucket is stored. Memory suffices, because renewals write the entries again after a restart of the server.
    /// Default: memory.</summary>
    public NatsKVStorageType Storage { get; init; } = NatsKVStorageType.Memory;

    /// <summary>How many servers of a cluster store a new bucket. At least 1. Default: 1.</summary>
    public int Replicas { get; init; } = 1;

    /// <summary>The most entries that a directory follows. Further entries are ignored and a warning is logged. At least 1. Default:
    /// 10,000.</summary>
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
