using System.Diagnostics;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>The application's TLS callbacks may sleep, and its chain policies wait for somebody else's server: that is for their own
/// connections to bear.</summary>
[Collection(Alone.Name)]
public sealed class SleepingCallbackTests(ITestOutputHelper output) : IDisposable
{
    private const int RoundTrips = 1_000;

    // The first ones compile the code.
    private const int WarmUp = 100;

    // Of all, from before the first callback sleeps: 1 to 20 ms as a rule and 318 the longest of 300 measured, on two processors that
    // others used; where callbacks sleep on the pool's threads it is 3 to 5 s.
    private static readonly TimeSpan Allowed = TimeSpan.FromSeconds(1);

    // Of the 99th percentile before the callbacks sleep. The two thousands are measured one behind the other, so others' work may fall upon
    // the second alone.
    private const int AllowedFactor = 10;

    // Besides: it is a tenth of a millisecond as a rule, of which ten times is no time slice of the system's yet, and was 20 ms once in
    // 300, on two processors that others used.
    private static readonly TimeSpan AllowedFloor = TimeSpan.FromMilliseconds(50);

    // Six, and more than the pool has threads for: one for each processor by itself, and what tests before this one made it add.
    private readonly int _sleepers = Math.Max(6, ThreadPool.ThreadCount + (2 * Environment.ProcessorCount));
    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData("Validation, connecter")]
    [InlineData("Validation, listener")]
    [InlineData("Client, validation")]
    [InlineData("Client, choice of a certificate")]
    [InlineData("Server, validation")]
    [InlineData("Server, choice of a certificate")]
    public async Task A_thousand_round_trips_of_another_connection_take_no_longer_at_the_99th_percentile_while_callbacks_sleep(string which)
    {
        await using var fixture = new StreamFixture();
        using var entered = new CountdownEvent(_sleepers);
        using var gate = new ManualResetEventSlim();
        StreamSocket server = fixture.Context.CreateStream();
        StreamSocket client = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _own.Server;
        client.Options.Tls.VerifyPeer = false;
        Hold(which, server.Options.Tls, client.Options.Tls, () =>
        {
            entered.Signal();
            Assert.True(gate.Wait(Guard.Limit));
        });
        Task[] connects = await GoOnBesideAsync(fixture, server, client, entered);
        gate.Set();
        await Task.WhenAll(connects).Guarded();
        await fixture.UntilAsync(() => server.PeerCount == _sleepers);
    }

    [Theory]
    [InlineData("ChainPolicy, connecter")]
    [InlineData("ChainPolicy, listener")]
    [InlineData("Client, policy")]
    [InlineData("Client, trust of a context")]
    [InlineData("Server, policy")]
    [InlineData("Server, trust of a context")]
    public async Task Other_connections_go_on_while_certificate_chains_wait_for_a_silent_server(string which)
    {
        await using var fixture = new StreamFixture();
        using var entered = new CountdownEvent(_sleepers);
        using var elsewhere = new RawListener();
        StreamSocket server = fixture.Context.CreateStream();
        StreamSocket client = fixture.Context.CreateStream();
        X509Certificate2 leaf = _own.WithIssuerElsewhere(elsewhere.Endpoint.Replace("tcp:", "http:", StringComparison.Ordinal)).Leaf;
        Download(which, server.Options.Tls, client.Options.Tls, leaf);
        using var ended = new CancellationTokenSource();
        Task holding = HoldRequestsAsync(elsewhere, entered, ended.Token);
        Task[] connects = await GoOnBesideAsync(fixture, server, client, entered);
        await ended.CancelAsync();
        await holding.Guarded();
        // Nobody trusts the certificate.
        await Task.WhenAll(connects).Guarded().ConfigureAwait(
            ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
    }

    /// <summary>Connects, so that all sleep, and measures round trips of another connection meanwhile.</summary>
    private async Task<Task[]> GoOnBesideAsync(StreamFixture fixture, StreamSocket server, StreamSocket client, CountdownEvent entered)
    {
        string sleeping = server.Bind("tls://127.0.0.1:0");
        fixture.Bind(TestHandler.Echo(), out string echo);
        using var isMeasured = new ManualResetEventSlim();
        Measured took = default;
        var trips = new Thread(() => took = GoOn(echo, isMeasured, entered)) { IsBackground = true };
        trips.Start();

        // Beside the pool, which would else be slow to run the test itself.
        await Task.Factory.StartNew(() => Assert.True(isMeasured.Wait(Guard.Limit, Guard.Token)), Guard.Token,
            TaskCreationOptions.LongRunning, TaskScheduler.Default).Guarded();
        Task[] connects = [.. Enumerable.Range(0, _sleepers).Select(_ => client.ConnectAsync(sleeping, Guard.Token).AsTask())];
        await Task.Factory.StartNew(trips.JoinGuarded, Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default).Guarded();
        output.WriteLine($"{_sleepers} slept; the 99th percentile of {RoundTrips} round trips was {took.Before.TotalMilliseconds:0.000} "
            + $"ms before and {took.Meanwhile.TotalMilliseconds:0.000} ms meanwhile, the longest took "
            + $"{took.Longest.TotalMilliseconds:0.0} ms");
        Assert.InRange(took.Meanwhile, TimeSpan.Zero, (AllowedFactor * took.Before) + AllowedFloor);
        Assert.InRange(took.Longest, TimeSpan.Zero, Allowed);
        return connects;
    }

    /// <summary>Takes requests and does not answer them until it is ended; then they fail.</summary>
    private static async Task HoldRequestsAsync(RawListener elsewhere, CountdownEvent entered, CancellationToken ended)
    {
        var held = new List<RawPeer>();
        try
        {
            while (true)
            {
                held.Add(await elsewhere.AcceptAsync().WaitAsync(ended));
                if (!entered.IsSet)
                {
                    entered.Signal();
                }
            }
        }
        catch (OperationCanceledException)
        {
            elsewhere.Dispose();
            held.ForEach(static request => request.Reset());
        }
    }

    /// <summary>On a thread of its own: a thousand round trips, then more until all callbacks sleep, and a thousand behind that.</summary>
    private static Measured GoOn(string endpoint, ManualResetEventSlim isMeasured, CountdownEvent entered)
    {
        using var echo = new BlockingEcho(endpoint);
        for (int i = 0; i < WarmUp; i++)
        {
            Trip(echo);
        }

        TimeSpan[] before = [.. Enumerable.Range(0, RoundTrips).Select(_ => Trip(echo))];
        isMeasured.Set();
        TimeSpan longest = TimeSpan.Zero;
        while (!entered.IsSet)
        {
            TimeSpan one = Trip(echo);
            longest = one > longest ? one : longest;
        }

        TimeSpan[] meanwhile = [.. Enumerable.Range(0, RoundTrips).Select(_ => Trip(echo))];
        return new Measured(Percentile99(before), Percentile99(meanwhile), meanwhile.Append(longest).Max());
    }

    private static TimeSpan Trip(BlockingEcho echo)
    {
        long started = Stopwatch.GetTimestamp();
        echo.RoundTrip();
        return Stopwatch.GetElapsedTime(started);
    }

    private static TimeSpan Percentile99(TimeSpan[] times) => times.Order().ElementAt(times.Length * 99 / 100);

    private void Download(string which, TlsOptions server, TlsOptions client, X509Certificate2 leaf)
    {
        bool isConnecter = which is "ChainPolicy, connecter" or "Client, policy" or "Client, trust of a context";
        (server.Certificate, server.RequireClientCertificate, server.CaFile) =
            (isConnecter ? leaf : _own.Server, !isConnecter, _own.CaFile);
        (client.Certificate, client.VerifyPeer) = (isConnecter ? null : leaf, isConnecter);
        var policy = new X509ChainPolicy { RevocationMode = X509RevocationMode.NoCheck };
        var trust = SslCertificateTrust.CreateForX509Collection([_own.Server]);
        var context = SslStreamCertificateContext.Create(_own.Server, additionalCertificates: null, offline: true, trust);
        switch (which)
        {
            case "ChainPolicy, connecter":
                client.ChainPolicy = policy;
                break;
            case "ChainPolicy, listener":
                server.ChainPolicy = policy;
                break;
            case "Client, policy":
                client.Client = new() { CertificateChainPolicy = policy };
                break;
            case "Client, trust of a context":
                client.Client = new() { ClientCertificateContext = context };
                break;
            case "Server, policy":
                server.Server = new()
                {
                    ServerCertificate = _own.Server,
                    ClientCertificateRequired = true,
                    CertificateChainPolicy = policy
                };
                break;
            case "Server, trust of a context":
                (server.Server, server.CaFile) = (new() { ServerCertificateContext = context, ClientCertificateRequired = true }, "");
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(which), which, "no such policy");
        }
    }

    private void Hold(string which, TlsOptions server, TlsOptions client, Action sleep)
    {
        RemoteCertificateValidationCallback check = (_, _, _, _) =>
        {
            sleep();
            return true;
        };
        RemoteCertificateValidationCallback any = static (_, _, _, _) => true;
        switch (which)
        {
            case "Validation, connecter":
                client.Validation = check;
                break;
            case "Validation, listener":
                (server.Validation, server.RequireClientCertificate) = (check, true);
                client.Certificate = _own.Server;
                break;
            case "Client, validation":
                client.Client = new() { RemoteCertificateValidationCallback = check };
                break;
            case "Client, choice of a certificate":
                int calls = 0;
                client.Client = new()
                {
                    RemoteCertificateValidationCallback = any,
                    LocalCertificateSelectionCallback = (_, _, _, _, _) =>
                    {
                        // It is asked more than once in a handshake.
                        if (Interlocked.Increment(ref calls) <= _sleepers)
                        {
                            sleep();
                        }

                        return _own.Server;
                    },
                };
                break;
            case "Server, validation":
                server.Server = new()
                {
                    ServerCertificate = _own.Server,
                    ClientCertificateRequired = true,
                    RemoteCertificateValidationCallback = check
                };
                client.Certificate = _own.Server;
                break;
            case "Server, choice of a certificate":
                server.Server = new()
                {
                    ServerCertificateSelectionCallback = (_, _) =>
                    {
                        sleep();
                        return _own.Server;
                    },
                };
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(which), which, "no such callback");
        }
    }

    /// <summary>The 99th percentiles of the two thousands, and the longest trip since the callbacks were called.</summary>
    private readonly record struct Measured(TimeSpan Before, TimeSpan Meanwhile, TimeSpan Longest);
}
