using Net.Zlink.Services;
using NATS.Client.KeyValueStore;

namespace Net.Zlink.Extensions.Nats;

/// <summary>The bucket that receivers and gateways share, and how it is used. Copied by those who get it.</summary>
public sealed class NatsServiceOptions
{
    /// <summary>The name of the key-value bucket. A missing bucket is created with the values below. Default:
    /// <c>zlink-services</c>.</summary>
    public string Bucket { get; set; } = "zlink-services";

    /// <summary>How long an entry lives without renewal; entries are renewed after a third of it. An existing bucket keeps its own maximum
    /// age, which then applies. At least 1 second. Default: 15 seconds.</summary>
    public TimeSpan Lease { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>Where a new bucket is stored. Memory suffices, because renewals write the entries again after a restart of the server.
    /// Default: memory.</summary>
    public NatsKVStorageType Storage { get; set; } = NatsKVStorageType.Memory;

    /// <summary>How many servers of a cluster store a new bucket. At least 1. Default: 1.</summary>
    public int Replicas { get; set; } = 1;

    /// <summary>The most entries that a directory follows. Further entries are ignored and a warning is logged. At least 1. Default:
    /// 10,000.</summary>
    public int MaxInstances { get; set; } = 10_000;

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentException">One is out of its range; the message names the property and says what it takes.</exception>
    public void Validate()
    {
        OptionTexts.NotEmpty(Bucket, "name the bucket that all instances use");
        OptionRange.InRange(Lease, TimeSpan.FromSeconds(1));
        OptionRange.InRange(Replicas, 1);
        OptionRange.InRange(MaxInstances, 1);
    }

    internal NatsServiceOptions ValidCopy()
    {
        Validate();
        return (NatsServiceOptions)MemberwiseClone();
    }
}
