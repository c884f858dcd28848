using NATS.Client.Core;
using NATS.Client.JetStream;
using NATS.Client.KeyValueStore;
using NATS.Net;

namespace Net.Zlink.Extensions.Nats;

internal sealed class LeaseBucket(INatsConnection connection, NatsServiceOptions options)
{
    private const int NotFound = 404;
    private const long MaxBucketBytes = 64 * 1024 * 1024;

    private readonly INatsKVContext _buckets = connection.CreateKeyValueStoreContext();

    public async Task<(INatsKVStore Store, TimeSpan Lease)> OpenAsync(CancellationToken cancellation)
    {
        INatsKVStore store;
        try
        {
            store = await _buckets.GetStoreAsync(options.Bucket, cancellation).ConfigureAwait(false);
        }
        catch (NatsJSApiException e) when (e.Error.Code == NotFound)
        {
            store = await _buckets.CreateStoreAsync(
                new NatsKVConfig(options.Bucket)
                {
                    Description = "Services of Net.Zlink",
                    History = 1,
                    MaxAge = options.Lease,
                    MaxValueSize = ServiceLease.MaxBytes,
                    MaxBytes = MaxBucketBytes,
                    Storage = options.Storage,
                    NumberOfReplicas = options.Replicas,
                }, cancellation).ConfigureAwait(false);
        }

        NatsKVStatus status = await store.GetStatusAsync(cancellation).ConfigureAwait(false);
        TimeSpan lease = status.Info.Config.MaxAge;
        return lease > TimeSpan.Zero ? (store, lease) : throw new InvalidOperationException(
            $"The bucket {options.Bucket} has no maximum age, so entries of ended receivers would stay forever: set one.");
    }
}
