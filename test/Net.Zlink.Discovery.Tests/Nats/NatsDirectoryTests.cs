using NATS.Client.Core;
using NATS.Client.KeyValueStore;
using NATS.Net;
using Net.Zlink.Extensions.Nats;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Discovery.Tests.Nats;

/// <summary>Directory and registration over the bucket of a real nats-server.</summary>
public sealed class NatsDirectoryTests : IAsyncLifetime
{
    private static readonly ServiceInstance Quotes = new("quotes", "tcp://10.0.0.1:5555") { Weight = 3 };

    // The shortest one, since these tests wait for real leases.
    private static NatsServiceOptions Options => new() { Lease = TimeSpan.FromSeconds(1) };

    private readonly ZlinkContext _context = new();
    private NatsServer _server = null!;
    private NatsConnection _connection = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await NatsServer.StartAsync();
        _connection = _server.Connect();
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
        {
            await _connection.DisposeAsync();
            await _server.DisposeAsync();
        }

        await _context.DisposeAsync();
    }

    [Fact]
    public async Task A_registered_instance_is_found_follows_its_weight_and_is_gone_when_disposed()
    {
        await using var directory = new NatsServiceDirectory(_context, _connection, Options);
        await using var receiver = new ServiceReceiver(_context);
        string bound = receiver.Bind("tcp://127.0.0.1:*");
        ServiceRegistration registration = receiver.Register("a.b c/é", weight: 2);
        NatsServiceRegistration lease = await NatsServiceRegistration.RegisterAsync(
            _context, _connection, registration, Options, Guard.Token).Guarded();
        ServiceSnapshot found = await directory.WaitForAsync("a.b c/é", cancellationToken: Guard.Token).Guarded();
        Assert.Equal([new ServiceInstance("a.b c/é", bound) { Weight = 2 }], found.Instances);

        _ = registration.UpdateWeightAsync(7, Guard.Token);
        await UntilAsync(() => directory.GetService("a.b c/é").Instances is [{ Weight: 7 }], "the weight is 7");
        await lease.DisposeAsync().Guarded();
        await lease.DisposeAsync().Guarded();
        await UntilAsync(() => !directory.GetService("a.b c/é").IsAvailable, "the entry is gone");
    }

    [Fact]
    public async Task A_drained_receiver_leaves_the_bucket()
    {
        await using var directory = new NatsServiceDirectory(_context, _connection, Options);
        await using var receiver = new ServiceReceiver(_context);
        receiver.Bind("tcp://127.0.0.1:*");
        await using NatsServiceRegistration lease = await NatsServiceRegistration.RegisterAsync(
            _context, _connection, receiver.Register("quotes"), Options, Guard.Token).Guarded();
        await directory.WaitForAsync("quotes", cancellationToken: Guard.Token).Guarded();
        Task serving = receiver.ServeAsync(static (_, _) => default, cancellationToken: Guard.Token);
        await receiver.DrainAsync(new DrainOptions { MinDelay = TimeSpan.FromMilliseconds(1), IdleTime = TimeSpan.FromMilliseconds(1) },
            Guard.Token).Guarded();
        await UntilAsync(() => !directory.GetService("quotes").IsAvailable, "the entry is gone");
        await receiver.DisposeAsync();
        await serving.Guarded();
    }

    [Fact]
    public async Task An_entry_stays_while_it_is_renewed_and_goes_when_its_process_has_ended()
    {
        await using var directory = new NatsServiceDirectory(_context, _connection, Options);
        NatsConnection other = _server.Connect();
        NatsServiceRegistration lease = await NatsServiceRegistration.RegisterAsync(
            _context, other, Quotes, Options, Guard.Token).Guarded();
        await directory.WaitForAsync("quotes", cancellationToken: Guard.Token).Guarded();
        INatsKVStore bucket = await _connection.CreateKeyValueStoreContext().GetStoreAsync(Options.Bucket, Guard.Token);
        await UntilRevisionAsync(bucket, above: 7); // Renewed three times a lease: two leases at least.
        Assert.Equal(1, directory.GetService("quotes").Version);

        await other.DisposeAsync(); // As the end of the process: the entry is neither renewed nor removed.
        await UntilAsync(() => !directory.GetService("quotes").IsAvailable, "the entry has run out");
        await lease.DisposeAsync().Guarded();
    }

    [Theory]
    [InlineData(NatsKVStorageType.Memory)]
    [SlowInlineData(NatsKVStorageType.File)]
    public async Task Instances_stay_while_the_server_is_down_and_leases_go_on_when_it_is_up_again(NatsKVStorageType storage)
    {
        NatsServiceOptions options = Options;
        options.Storage = storage;
        options.Lease = TimeSpan.FromSeconds(3); // A bucket in memory is empty after the restart: the entry has one lease to come back.
        await using var directory = new NatsServiceDirectory(_context, _connection, options);
        await using NatsServiceRegistration lease = await NatsServiceRegistration.RegisterAsync(
            _context, _connection, Quotes, options, Guard.Token).Guarded();
        await directory.WaitForAsync("quotes", cancellationToken: Guard.Token).Guarded();
        for (int restart = 0; restart < SlowTests.Rounds(1, 2); restart++)
        {
            long started = TimeProvider.System.GetTimestamp();
            await _server.KillAsync();
            await UntilAsync(() => TimeProvider.System.GetElapsedTime(started) > options.Lease * 2, "two leases are over");
            Assert.True(directory.GetService("quotes").IsAvailable);
            await _server.RestartAsync();
            await using NatsConnection fresh = _server.Connect();
            await using var newcomer = new NatsServiceDirectory(_context, fresh, options);
            Assert.Equal([Quotes], (await newcomer.WaitForAsync("quotes", cancellationToken: Guard.Token).Guarded()).Instances);
            Assert.Equal(1, directory.GetService("quotes").Version);
        }

        // What the old directory sees is present, and not only what it kept.
        await using NatsServiceRegistration second = await NatsServiceRegistration.RegisterAsync(
            _context, _connection, new ServiceInstance("quotes", "tcp://10.0.0.2:5555"), options, Guard.Token).Guarded();
        await directory.WaitForAsync("quotes", 2, Guard.Token).Guarded();
        await lease.DisposeAsync().Guarded();
        await UntilAsync(() => directory.GetService("quotes").Instances.Length == 1, "the first entry is gone");
    }

    [Fact]
    public async Task Entries_of_other_programs_are_followed_and_those_that_are_none_ignored()
    {
        NatsServiceOptions options = Options;
        options.MaxInstances = 2;
        await using var directory = new NatsServiceDirectory(_context, _connection, options);
        await using NatsServiceRegistration lease = await NatsServiceRegistration.RegisterAsync(
            _context, _connection, Quotes, Options, Guard.Token).Guarded();
        INatsKVStore bucket = await _connection.CreateKeyValueStoreContext().GetStoreAsync(Options.Bucket, Guard.Token);
        await bucket.PutAsync("quotes.x", "no json", cancellationToken: Guard.Token);
        await bucket.PutAsync("quotes.y", """{"service":"quotes","endpoint":"z","weight":1}""", cancellationToken: Guard.Token);
        await bucket.PutAsync("quotes.z", """{"service":"quotes","endpoint":"z","weight":0}""", cancellationToken: Guard.Token);
        await bucket.PutAsync("other.w", """{"service":"other","endpoint":"w","routingId":"0A0B"}""", cancellationToken: Guard.Token);
        ServiceSnapshot other = await directory.WaitForAsync("other", cancellationToken: Guard.Token).Guarded();
        Assert.Equal(new byte[] { 10, 11 }, other.Instances[0].RoutingId.Span.ToArray());
        await bucket.PutAsync("third.v", """{"service":"third","endpoint":"v"}""", cancellationToken: Guard.Token);
        await bucket.PutAsync("other.w", """{"service":"other","endpoint":"w","weight":9}""", cancellationToken: Guard.Token);
        await UntilAsync(() => directory.GetService("other").Instances is [{ Weight: 9 }], "the weight is 9");
        Assert.False(directory.GetService("third").IsAvailable);
        Assert.Equal([Quotes], directory.GetService("quotes").Instances);
    }

    [Fact]
    public async Task A_bucket_whose_entries_live_for_ever_and_wrong_arguments_are_refused()
    {
        await _connection.CreateKeyValueStoreContext().CreateStoreAsync("for-ever", Guard.Token);
        NatsServiceOptions options = Options;
        options.Bucket = "for-ever";
        await Assert.ThrowsAsync<InvalidOperationException>(() => NatsServiceRegistration.RegisterAsync(
            _context, _connection, Quotes, options, Guard.Token).Guarded());
        await Assert.ThrowsAnyAsync<ArgumentException>(() => NatsServiceRegistration.RegisterAsync(
            _context, _connection, new ServiceInstance("quotes", ""), Options, Guard.Token).Guarded());
        Assert.Equal(nameof(NatsServiceOptions.Lease), Assert.ThrowsAny<ArgumentException>(
            () => new NatsServiceDirectory(_context, _connection, new NatsServiceOptions { Lease = TimeSpan.Zero })).ParamName);
    }

    [Fact]
    public async Task A_gateway_gets_replies_of_a_receiver_that_it_knows_from_the_bucket_only()
    {
        await using var receiver = new ServiceReceiver(_context);
        receiver.Bind("tcp://127.0.0.1:*");
        Task serving = receiver.ServeAsync(
            static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation), cancellationToken: Guard.Token);
        await using NatsServiceRegistration lease = await NatsServiceRegistration.RegisterAsync(
            _context, _connection, receiver.Register("echo"), Options, Guard.Token).Guarded();
        await using var directory = new NatsServiceDirectory(_context, _connection, Options);
        await using var gateway = new ServiceGateway(_context, directory);
        ServiceClient client = gateway.GetClient("echo");
        await client.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        using (ServiceReply reply = await client.RequestAsync("hello"u8.ToArray(), cancellationToken: Guard.Token).Guarded())
        {
            Assert.Equal("hello"u8, reply.Span);
        }

        await _server.KillAsync();
        using (ServiceReply reply = await client.RequestAsync("again"u8.ToArray(), cancellationToken: Guard.Token).Guarded())
        {
            Assert.Equal("again"u8, reply.Span);
        }

        await receiver.DisposeAsync();
        await serving.Guarded();
    }

    private static Task UntilAsync(Func<bool> condition, string what) => Guard.UntilAsync(condition, what);

    private static async Task UntilRevisionAsync(INatsKVStore bucket, ulong above)
    {
        await foreach (NatsKVEntry<byte[]> entry in bucket.WatchAsync<byte[]>(cancellationToken: Guard.Token))
        {
            if (entry.Revision > above)
            {
                return;
            }
        }
    }
}
