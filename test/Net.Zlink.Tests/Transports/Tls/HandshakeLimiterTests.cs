using System.Globalization;
using System.Net.Security;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Many handshakes at once: silent clients, callbacks that take long, and everybody else meanwhile.</summary>
public sealed class HandshakeLimiterTests : IDisposable
{
    private readonly TestCertificates _own = new();

    public void Dispose() => _own.Dispose();

    [Theory]
    [InlineData("tls")]
    [InlineData("ws")]
    [InlineData("wss")]
    public async Task Silent_clients_take_no_place_and_are_closed_when_the_time_of_a_phase_is_up(string scheme)
    {
        const int Silent = 10;
        var time = new ManualTimeProvider();
        await using var context = new ZlinkContext(new ZlinkContextOptions { TimeProvider = time, MaxHandshakes = 1 });
        await using DealerSocket server = context.CreateDealer();
        server.Options.Tls.Certificate = _own.Server;
        server.Options.HandshakeInterval = TimeSpan.FromSeconds(30);
        const SocketEventTypes Events = SocketEventTypes.Accepted | SocketEventTypes.HandshakeFailedNoDetail;
        using EventReader monitor = server.ReadEvents(Events);
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0");
        List<RawPeer> silent = await ConnectAsync(endpoint, Silent, monitor);
        await using var other = new ZlinkContext(); // Its clock is the real one.
        await using DealerSocket client = other.CreateDealer();
        client.Options.Tls.CaFile = _own.CaFile;
        client.Connect(endpoint);
        await client.SendAsync("good"u8.ToArray(), Guard.Token).Guarded();
        using (Message message = await server.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal("good"u8.ToArray(), message.Span.ToArray());
        }

        Assert.Equal(0, server.GetStatistics().HandshakeFailures.TimedOut); // Served while the others' time has not begun to pass.
        Task allEnded = Task.WhenAll(silent.Select(static peer => peer.ReadToAnyEndAsync()));
        time.Advance(TimeSpan.FromSeconds(31));
        await allEnded.Guarded();
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.EndsWith($"{(scheme is "ws" ? "the WebSocket upgrade" : "the TLS handshake")} was not complete within 30000 ms",
            failed.Detail, StringComparison.Ordinal);
        await Guard.UntilAsync(() => server.GetStatistics().HandshakeFailures.TimedOut == Silent,
            "each silent client is counted, right behind its end");
        silent.ForEach(static peer => peer.Dispose());
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("ws")]
    [InlineData("wss")]
    public async Task A_silent_client_that_leaves_is_a_handshake_that_failed(string scheme)
    {
        await using var context = new ZlinkContext();
        await using DealerSocket server = context.CreateDealer();
        server.Options.Tls.Certificate = _own.Server;
        using EventReader monitor = server.ReadEvents(SocketEventTypes.Accepted | SocketEventTypes.HandshakeFailedNoDetail);
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0");
        List<RawPeer> silent = await ConnectAsync(endpoint, 2, monitor);
        silent[0].Dispose();
        await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        silent[1].Reset();
        await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Closing_the_socket_ends_handshakes_and_those_that_wait_in_line(bool unbind)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { MaxHandshakes = 1 });
        StreamSocket server = context.CreateStream();
        server.Options.Tls.Certificate = _own.Server;
        using EventReader monitor = server.ReadEvents(SocketEventTypes.Accepted);
        string endpoint = server.Bind("tls://127.0.0.1:0");
        List<RawPeer> peers = await ConnectAsync(endpoint, 3, monitor); // One in its handshake, one in line, one that has said nothing.
        await peers[0].SendAsync(FirstByteOf("tls"));
        await Guard.UntilAsync(() => context.Host.Handshakes.Running == 1, "the first client is in its handshake");
        await peers[1].SendAsync(FirstByteOf("tls"));
        await Guard.UntilAsync(() => context.Host.Handshakes.Waiting == 1, "the second client waits in line");
        if (unbind)
        {
            server.Unbind(endpoint);
        }
        else
        {
            await server.DisposeAsync().Guarded();
        }

        foreach (RawPeer peer in peers)
        {
            await peer.ReadToAnyEndAsync();
            peer.Dispose();
        }
    }

    [Fact]
    public async Task A_certificate_callback_that_takes_long_stops_nobody_elses_messages()
    {
        await using var fixture = new StreamFixture(shards: 1);
        using var held = new ManualResetEventSlim();
        var entered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _own.Server;
        server.Options.HandshakeInterval = TimeSpan.Zero;
        var echo = TestHandler.Echo();
        string endpoint = server.Bind("tls://127.0.0.1:0", echo);
        StreamSocket good = fixture.Context.CreateStream();
        good.Options.Tls.CaFile = _own.CaFile;
        uint peer = await good.ConnectAsync(endpoint, Guard.Token).Guarded();
        await good.NextConnectedAsync();

        StreamSocket slow = fixture.Context.CreateStream();
        slow.Options.HandshakeInterval = TimeSpan.Zero;
        slow.Options.Tls.Validation = (_, _, _, errors) =>
        {
            entered.SetResult();
            held.Wait(Guard.Token); // However long the machine takes for the others.
            return errors != SslPolicyErrors.RemoteCertificateNotAvailable;
        };
        Task<uint> connecting = slow.ConnectAsync(endpoint, Guard.Token).AsTask();
        await entered.Task.Guarded();
        await RoundTripsAsync(good, peer, 300);
        Assert.False(connecting.IsCompleted);
        held.Set();
        await connecting.Guarded();
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public async Task A_servers_callback_that_never_returns_keeps_its_connection_and_its_place_no_longer_than_the_time_of_a_phase(
        string scheme)
    {
        var time = new ManualTimeProvider();
        using var held = new ManualResetEventSlim();
        var entered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var context = new ZlinkContext(new ZlinkContextOptions { TimeProvider = time, MaxHandshakes = 1 });
        StreamSocket server = context.CreateStream();
        server.Options.MaxConnections = 1;
        server.Options.Tls.Server = new SslServerAuthenticationOptions
        {
            ServerCertificateSelectionCallback = (_, _) =>
            {
                if (entered.TrySetResult())
                {
                    held.Wait(Guard.Token);
                }

                return _own.Server;
            },
        };
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0");
        await using var other = new ZlinkContext(); // Its clock is the real one.
        StreamSocket client = other.CreateStream();
        client.Options.Tls.CaFile = _own.CaFile;
        Task<uint> first = client.ConnectAsync(endpoint, Guard.Token).AsTask();
        await entered.Task.Guarded();

        time.Advance(server.Options.HandshakeInterval);
        await Task.WhenAny(first).Guarded();
        Assert.True(first.IsFaulted, "the connection was not given up");
        await Guard.UntilAsync(() => server.GetStatistics().FailedHandshakes == 1, "it counts as a failed handshake");
        await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        Assert.False(held.IsSet);
        held.Set();
    }

    [Theory]
    [InlineData("time")]
    [InlineData("token")]
    [InlineData("socket")]
    [InlineData("context")]
    public async Task A_clients_callback_that_never_returns_holds_up_neither_its_connect_nor_a_shutdown(string end)
    {
        var time = new ManualTimeProvider();
        using var held = new ManualResetEventSlim();
        using var cancellation = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        var entered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = _own.Server;
        string endpoint = server.Bind("tls://127.0.0.1:0");
        await using var context = new ZlinkContext(new ZlinkContextOptions { TimeProvider = time });
        StreamSocket client = context.CreateStream();
        client.Options.Tls.Validation = (_, _, _, _) =>
        {
            entered.SetResult();
            held.Wait(Guard.Token);
            return true;
        };
        Task<uint> connecting = client.ConnectAsync(endpoint, cancellation.Token).AsTask();
        await entered.Task.Guarded();

        Task ending = end switch
        {
            "token" => cancellation.CancelAsync(),
            "socket" => client.DisposeAsync().AsTask(),
            "context" => context.DisposeAsync().AsTask(),
            _ => Task.Run(() => time.Advance(client.Options.HandshakeInterval), Guard.Token),
        };
        await ending.Guarded();
        await Task.WhenAny(connecting).Guarded();
        Assert.True(connecting.IsFaulted || connecting.IsCanceled, "it is connected");
        Assert.False(held.IsSet);
        held.Set();
    }

    [Fact]
    public async Task A_servers_choice_of_certificate_that_takes_long_stops_nobody_elses_messages()
    {
        await using var fixture = new StreamFixture(shards: 1);
        using var held = new ManualResetEventSlim();
        var entered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.HandshakeInterval = TimeSpan.Zero;
        server.Options.Tls.Server = new SslServerAuthenticationOptions
        {
            ServerCertificateSelectionCallback = (_, name) =>
            {
                if (string.Equals(name, "slow.example", StringComparison.Ordinal))
                {
                    entered.SetResult();
                    held.Wait(Guard.Token); // However long the machine takes for the others.
                }

                return _own.Server;
            },
        };
        string endpoint = server.Bind("wss://127.0.0.1:0", TestHandler.Echo());
        StreamSocket good = fixture.Context.CreateStream();
        good.Options.Tls.CaFile = _own.CaFile;
        uint peer = await good.ConnectAsync(endpoint, Guard.Token).Guarded();
        await good.NextConnectedAsync();
        StreamSocket slow = fixture.Context.CreateStream();
        slow.Options.HandshakeInterval = TimeSpan.Zero;
        slow.Options.Tls.HostName = "slow.example";
        slow.Options.Tls.VerifyPeer = false;
        Task<uint> connecting = slow.ConnectAsync(endpoint, Guard.Token).AsTask();
        await entered.Task.Guarded();
        await RoundTripsAsync(good, peer, 300);
        StreamSocket another = fixture.Context.CreateStream();
        another.Options.Tls.CaFile = _own.CaFile;
        await another.ConnectAsync(endpoint, Guard.Token).Guarded();
        Assert.False(connecting.IsCompleted);
        held.Set();
        await connecting.Guarded();
    }

    /// <summary>
    /// In a process of its own, whose completions run where the test says: inline, they run on the thread that brings the news of all other
    /// sockets too. It has one such thread and two shards. A connection whose
    /// handshake never had to wait takes turns; that is rare.
    /// </summary>
    [Theory]
    [InlineData("tls", true)]
    [SlowInlineData("tls", false)]
    [SlowInlineData("ws", true)]
    [SlowInlineData("ws", false)]
    [SlowInlineData("wss", true)]
    [InlineData("wss", false)]
    public async Task Certificate_callbacks_run_on_threads_of_their_own_wherever_completions_run(string scheme, bool inlineCompletions)
    {
        const int Connections = 20;
        int callbacks = scheme is "ws" ? 0 : 2 * Connections;
        await using ChildProcess child = Programs.Child("handshake", scheme).WithInlineCompletions(inlineCompletions).Start();
        string line = await child.ReadLineAsync("CALLBACKS ");
        Assert.StartsWith(string.Create(CultureInfo.InvariantCulture, $"CALLBACKS {callbacks}, elsewhere: 0, "), line,
            StringComparison.Ordinal);
        int fullest = int.Parse(line[(line.LastIndexOf(' ') + 1)..], CultureInfo.InvariantCulture);
        Assert.InRange(fullest, inlineCompletions ? Connections * 3 / 4 : Connections / 2, inlineCompletions ? Connections
            : Connections / 2);
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("wss")]
    public async Task More_callbacks_than_processors_that_take_long_stop_nobody_elses_messages(string scheme)
    {
        int slow = (2 * Environment.ProcessorCount) + 1;
        await using var fixture = new StreamFixture();
        using var held = new ManualResetEventSlim();
        using var entered = new SemaphoreSlim(0);
        StreamSocket server = fixture.Context.CreateStream();
        (server.Options.Tls.Certificate, server.Options.Tls.CaFile, server.Options.Tls.RequireClientCertificate) =
            (_own.Server, _own.CaFile, true);
        server.Options.Tls.Validation = (_, certificate, _, errors) =>
        {
            if (string.Equals(certificate?.Subject, "CN=slow", StringComparison.Ordinal))
            {
                entered.Release();
                held.Wait(Guard.Token); // However long the machine takes for the others.
            }

            return errors == SslPolicyErrors.None;
        };
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0", TestHandler.Echo());
        StreamSocket good = fixture.Context.CreateStream();
        (good.Options.Tls.CaFile, good.Options.Tls.Certificate) = (_own.CaFile, _own.Server);
        uint peer = await good.ConnectAsync(endpoint, Guard.Token).Guarded();
        await good.NextConnectedAsync();
        StreamSocket waiting = fixture.Context.CreateStream();
        (waiting.Options.Tls.CaFile, waiting.Options.Tls.Certificate) = (_own.CaFile, _own.Issue("CN=slow", []));
        Task<uint>[] connecting = [.. Enumerable.Range(0, slow).Select(_ => waiting.ConnectAsync(endpoint, Guard.Token).AsTask())];
        for (int i = 0; i < slow; i++)
        {
            await entered.WaitAsync(Guard.Token).Guarded();
        }

        await RoundTripsAsync(good, peer, 1_000);
        Assert.Equal(1, server.PeerCount);
        held.Set();
        await Task.WhenAll(connecting).Guarded();
        await fixture.UntilAsync(() => server.PeerCount == slow + 1);
    }

    /// <summary>Clients that have been accepted and say nothing.</summary>
    private static async Task<List<RawPeer>> ConnectAsync(string endpoint, int count, EventReader monitor)
    {
        var peers = new List<RawPeer>();
        for (int i = 0; i < count; i++)
        {
            peers.Add(await RawPeer.ConnectAsync($"tcp://127.0.0.1:{new Uri(endpoint).Port}"));
            await monitor.NextAsync(SocketEventTypes.Accepted);
        }

        return peers;
    }

    /// <summary>What a ClientHello's record, or a request, begins with.</summary>
    private static byte[] FirstByteOf(string scheme) => scheme is "ws" ? "G"u8.ToArray() : [0x16];

    private static async Task RoundTripsAsync(StreamSocket socket, uint peer, int count)
    {
        for (int i = 0; i < count; i++)
        {
            Assert.True(socket.To(peer).TrySend("?"u8));
            Assert.Equal("?"u8.ToArray(), await socket.NextDataAsync(peer));
        }
    }
}
