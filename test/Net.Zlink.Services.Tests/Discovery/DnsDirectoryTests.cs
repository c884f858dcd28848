using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Instances that come from addresses of DNS, over a resolver of the test's own.</summary>
public sealed class DnsDirectoryTests : IAsyncDisposable
{
    private static readonly TimeSpan Interval = new DnsDirectoryOptions().RefreshInterval;
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(100);

    private readonly ManualTimeProvider _clock = new();
    private readonly ContextFixture _fixture;
    private readonly Channel<TaskCompletionSource<IPAddress[]>> _queries = Channel.CreateUnbounded<TaskCompletionSource<IPAddress[]>>();

    public DnsDirectoryTests() => _fixture = new ContextFixture(time: _clock);

    public ValueTask DisposeAsync() => _fixture.DisposeAsync();

    [Fact]
    public async Task A_name_is_asked_again_every_interval_and_its_addresses_are_the_instances()
    {
        await using DnsDirectory directory = Create();
        directory.AddService("quotes", "quotes.svc", 5555);
        (await NextQueryAsync()).SetResult([IPAddress.Parse("10.0.0.2"), IPAddress.Parse("10.0.0.1"), IPAddress.Parse("fd00::1")]);
        ServiceSnapshot snapshot = await directory.WaitForAsync("quotes", 3, Guard.Token).Guarded();
        Assert.Equal(["tcp://10.0.0.1:5555", "tcp://10.0.0.2:5555", "tcp://[fd00::1]:5555"], Endpoints(snapshot), StringComparer.Ordinal);

        TimeSpan answered = _clock.Elapsed;
        TaskCompletionSource<IPAddress[]> second = await NextQueryAsync();
        Assert.True(_clock.Elapsed - answered >= Interval - Step);
        second.SetResult([IPAddress.Parse("10.0.0.3")]);
        await Guard.UntilAsync(() => directory.GetService("quotes").Version == 2, "the second answer counts");
        Assert.Equal(["tcp://10.0.0.3:5555"], Endpoints(directory.GetService("quotes")), StringComparer.Ordinal);
    }

    [Fact]
    public async Task A_query_that_fails_finds_nothing_or_takes_too_long_keeps_the_last_good_answer()
    {
        await using DnsDirectory directory = Create();
        directory.AddService("quotes", "quotes.svc", 5555);
        (await NextQueryAsync()).SetResult([IPAddress.Loopback]);
        await directory.WaitForAsync("quotes", cancellationToken: Guard.Token).Guarded();

        (await NextQueryAsync()).SetException(new SocketException((int)SocketError.HostNotFound));
        (await NextQueryAsync()).SetResult([]);
        await NextQueryAsync();
        // Over its time, and never answered.
        TaskCompletionSource<IPAddress[]> last = await NextQueryAsync();
        Assert.Equal(["tcp://127.0.0.1:5555"], Endpoints(directory.GetService("quotes")), StringComparer.Ordinal);
        Assert.Equal(1, directory.GetService("quotes").Version);

        last.SetResult([IPAddress.Parse("10.0.0.9")]);
        await Guard.UntilAsync(() => directory.GetService("quotes").Version == 2, "an answer behind failures counts");
    }

    [Fact]
    public async Task Several_services_one_transport_and_a_filter_of_addresses_work_together()
    {
        var asked = new ConcurrentBag<string>();
        await using var directory = new DnsDirectory(_fixture.Context, new DnsDirectoryOptions
        {
            Transport = "tls",
            Filter = static address => address.AddressFamily == AddressFamily.InterNetwork,
            Resolve = (host, _) =>
            {
                asked.Add(host);
                return Task.FromResult<IPAddress[]>([IPAddress.Loopback, IPAddress.IPv6Loopback]);
            },
        });
        directory.AddService("a", "a.svc", 1);
        directory.AddService("b", "b.svc", 2);
        await directory.WaitForAsync("a", cancellationToken: Guard.Token).Guarded();
        await directory.WaitForAsync("b", cancellationToken: Guard.Token).Guarded();
        Assert.Equal(["a.svc", "b.svc"], asked.Order(StringComparer.Ordinal), StringComparer.Ordinal);
        Assert.Equal(["tls://127.0.0.1:2"], Endpoints(directory.GetService("b")), StringComparer.Ordinal);
    }

    [Fact]
    public async Task Disposal_ends_queries_in_progress_and_enumerations_and_keeps_the_snapshot()
    {
        DnsDirectory directory = Create();
        directory.AddService("quotes", "quotes.svc", 5555);
        (await NextQueryAsync()).SetResult([IPAddress.Loopback]);
        await directory.WaitForAsync("quotes", cancellationToken: Guard.Token).Guarded();
        ValueTask<ServiceSnapshot> waiting = directory.WaitForAsync("quotes", 2, Guard.Token);
        await NextQueryAsync();
        await directory.DisposeAsync().Guarded();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => waiting.Guarded());
        Assert.True(directory.GetService("quotes").IsAvailable);
        Assert.Throws<ObjectDisposedException>(() => directory.AddService("other", "other.svc", 1));
        await directory.DisposeAsync().Guarded();
        Assert.Equal(0, _clock.ArmedTimers);
    }

    [Fact]
    public async Task Wrong_services_and_options_are_refused()
    {
        await using DnsDirectory directory = Create();
        directory.AddService("a", "a.svc", 1);
        Assert.Throws<InvalidOperationException>(() => directory.AddService("a", "b.svc", 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => directory.AddService("b", "b.svc", 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => directory.AddService("b", "b.svc", 65536));
        Assert.Throws<ArgumentException>(() => new DnsDirectory(_fixture.Context, new DnsDirectoryOptions { Transport = "udp" }));
        Assert.Throws<ArgumentOutOfRangeException>(
            () => new DnsDirectory(_fixture.Context, new DnsDirectoryOptions { RefreshInterval = TimeSpan.Zero }));
    }

    [Fact]
    public async Task The_resolver_of_the_system_finds_this_machine_and_a_gateway_gets_a_reply()
    {
        await using var receiver = new ServiceReceiver(_fixture.Context);
        int port = new Uri(receiver.Bind("tcp://127.0.0.1:*")).Port;
        receiver.Register("echo");
        Task serving = receiver.ServeAsync(
            static (request, cancellation) => request.ReplyAsync(request.Memory, cancellation), cancellationToken: Guard.Token);
        await using var directory = new DnsDirectory(_fixture.Context,
            new DnsDirectoryOptions { Filter = static address => address.AddressFamily == AddressFamily.InterNetwork });
        directory.AddService("echo", "localhost", port);
        await using var gateway = new ServiceGateway(_fixture.Context, directory);
        ServiceClient client = gateway.GetClient("echo");
        await directory.WaitForAsync("echo", cancellationToken: Guard.Token).Guarded();
        await client.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        using ServiceReply reply = await client.RequestAsync("hello"u8.ToArray(), cancellationToken: Guard.Token).Guarded();
        Assert.Equal("hello"u8, reply.Span);
        await receiver.DisposeAsync();
        await serving.Guarded();
    }

    private static IEnumerable<string> Endpoints(ServiceSnapshot snapshot) =>
        snapshot.Instances.Select(static instance => instance.Endpoint);

    private DnsDirectory Create() => new(_fixture.Context, new DnsDirectoryOptions
    {
        Resolve = (host, _) =>
        {
            Assert.Equal("quotes.svc", host);
            var query = new TaskCompletionSource<IPAddress[]>(TaskCreationOptions.RunContinuationsAsynchronously);
            _queries.Writer.TryWrite(query);
            return query.Task;
        },
    });

    /// <summary>Moves the clock until the next query begins.</summary>
    private async Task<TaskCompletionSource<IPAddress[]>> NextQueryAsync()
    {
        TaskCompletionSource<IPAddress[]>? query;
        while (!_queries.Reader.TryRead(out query))
        {
            Assert.True(_clock.Elapsed < TimeSpan.FromHours(1), "no query begins");
            _clock.Advance(Step);
            await _fixture.SettleAsync(); // A query whose time is over before it is seen here would never be answered.
        }

        return query;
    }
}
