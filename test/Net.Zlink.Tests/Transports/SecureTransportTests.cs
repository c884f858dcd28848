using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports;

/// <summary>Every kind of socket over tls, ws and wss, ours with ours.</summary>
public sealed class SecureTransportTests : IDisposable
{
    private readonly TestCertificates _certificates = new();

    public void Dispose() => _certificates.Dispose();

    [Theory]
    [InlineData("tls://127.0.0.1:0")]
    [InlineData("tls://localhost:0")]
    [InlineData("ws://127.0.0.1:0")]
    [InlineData("ws://127.0.0.1:0/some/path?query=1")]
    [InlineData("wss://localhost:0/chat")]
    public async Task Messages_of_every_size_go_both_ways_whole(string endpoint)
    {
        await using var context = new ZlinkContext();
        (PairSocket binder, PairSocket connecter) = CreatePairs(context, endpoint);
        foreach (int size in new[] { 0, 1, 125, 126, 1000, 65_535, 65_536, 70_000, 1_000_000 })
        {
            byte[] payload = new byte[size];
            Random.Shared.NextBytes(payload);
            await connecter.SendAsync(payload, Guard.Token).Guarded();
            using Message there = await binder.ReceiveAsync(Guard.Token).Guarded();
            Assert.True(payload.AsSpan().SequenceEqual(there.Span), $"{size} bytes arrived changed");
            await binder.SendAsync(there.Span.ToArray(), Guard.Token).Guarded();
            using Message back = await connecter.ReceiveAsync(Guard.Token).Guarded();
            Assert.True(payload.AsSpan().SequenceEqual(back.Span), $"{size} bytes came back changed");
        }
    }

    [Theory]
    [InlineData("tls://127.0.0.1:0")]
    [InlineData("ws://127.0.0.1:0")]
    [InlineData("wss://127.0.0.1:0")]
    public async Task A_blocked_receiver_that_reads_itself_misses_no_part_that_the_library_has_taken(string endpoint)
    {
        await using var context = new ZlinkContext();
        (PairSocket binder, PairSocket connecter) = CreatePairs(context, endpoint);
        int[] sizes = [8_192, 65_536, 1_048_576];
        Task<long> receiving = Task.Factory.StartNew(
            () => Enumerable.Range(0, 60).Sum(_ =>
            {
                using Message message = binder.Receive(Guard.Limit);
                long received = message.ByteCount;
                binder.Send("next"u8);
                return received;
            }), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        for (int i = 0; i < 60; i++)
        {
            using var message = new MessageBuilder();
            for (int part = 0; part < 5; part++)
            {
                message.Add(new byte[sizes[i % sizes.Length]]);
            }

            await connecter.SendAsync(message, Guard.Token).Guarded();
            using Message next = await connecter.ReceiveAsync(Guard.Token).Guarded();
        }

        Assert.Equal(20L * 5 * sizes.Sum(), await receiving.Guarded());
    }

    [Theory]
    [InlineData("tls://127.0.0.1:0", "tls://127.0.0.1:")]
    [InlineData("ws://127.0.0.1:0", "ws://127.0.0.1:")]
    [InlineData("wss://127.0.0.1:0/a", "wss://127.0.0.1:")]
    public async Task A_flood_arrives_in_order_and_every_buffer_comes_back(string endpoint, string resolved)
    {
        const int Count = 50_000;
        using var pool = new Net.Zlink.Buffers.BufferPool();
        await using (var context = new ZlinkContext(new ZlinkContextOptions { Pool = pool }))
        {
            await using DealerSocket server = context.CreateDealer();
            await using DealerSocket client = context.CreateDealer();
            Trust(server.Options.Tls, client.Options.Tls);
            string bound = server.Bind(endpoint);
            Assert.StartsWith(resolved, bound, StringComparison.Ordinal);
            client.Connect(bound);
            Task sending = Task.Run(async () =>
            {
                byte[] text = new byte[100];
                for (int i = 0; i < Count; i++)
                {
                    BitConverter.TryWriteBytes(text, i);
                    await client.SendAsync(text, Guard.Token);
                }
            }, Guard.Token);
            for (int i = 0; i < Count; i++)
            {
                using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal(i, BitConverter.ToInt32(message.Span));
            }

            await sending.Guarded();
        }

        Assert.Equal(0, pool.GetStatistics().Live);
    }

    [Theory]
    [InlineData("tls://127.0.0.1:0")]
    [InlineData("ws://127.0.0.1:0")]
    [InlineData("wss://127.0.0.1:0")]
    public async Task STREAM_binds_and_connects(string endpoint)
    {
        await using var context = new ZlinkContext();
        await using StreamSocket server = context.CreateStream();
        await using StreamSocket client = context.CreateStream();
        Trust(server.Options.Tls, client.Options.Tls);
        string bound = server.Bind(endpoint);
        uint peer = await client.ConnectAsync(bound, Guard.Token).Guarded();
        Assert.True(client.To(peer).TrySend("hello"u8));
        uint id = 0;
        for (int i = 0; i < 2; i++)
        {
            using StreamMessage message = await server.ReceiveAsync(Guard.Token).Guarded();
            id = message.PeerId;
            Assert.Equal(i == 0 ? StreamMessageKind.Connected : StreamMessageKind.Data, message.Kind);
            if (i == 1)
            {
                Assert.Equal("hello", Encoding.ASCII.GetString(message.Payload.Span));
            }
        }

        Assert.True(server.To(id).TrySend(ReadOnlySpan<byte>.Empty));
        Assert.True(server.To(id).TrySend(new byte[300_000]));
        server.Disconnect(id);
        var lengths = new List<int>();
        while (true)
        {
            using StreamMessage message = await client.ReceiveAsync(Guard.Token).Guarded();
            if (message.Kind == StreamMessageKind.Disconnected)
            {
                break;
            }

            if (message.Kind == StreamMessageKind.Data)
            {
                lengths.Add(message.Payload.Length);
            }
        }

        Assert.Equal([0, 300_000], lengths);
    }

    [Theory]
    [InlineData("tls://127.0.0.1:0")]
    [InlineData("ws://127.0.0.1:0")]
    [InlineData("wss://127.0.0.1:0")]
    public async Task A_connecter_comes_back_after_its_server_did(string endpoint)
    {
        await using var context = new ZlinkContext();
        await using DealerSocket client = context.CreateDealer();
        client.Options.ReconnectInterval = TimeSpan.FromMilliseconds(1);
        DealerSocket server = context.CreateDealer();
        Trust(server.Options.Tls, client.Options.Tls);
        string bound = server.Bind(endpoint);
        client.Connect(bound);
        await client.SendAsync("one"u8.ToArray(), Guard.Token).Guarded();
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        using EventReader monitor = client.ReadEvents(SocketEventTypes.Disconnected);
        server.Unbind(bound);
        await monitor.ReadAsync(Guard.Token).Guarded();

        Assert.Equal(bound, server.Bind(bound));
        await client.SendAsync("two"u8.ToArray(), Guard.Token).Guarded();
        using Message second = await server.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("two", Encoding.ASCII.GetString(second.Span));
        await server.DisposeAsync();
    }

    /// <summary>Two sockets that are connected, and end with the context.</summary>
    private (PairSocket Binder, PairSocket Connecter) CreatePairs(ZlinkContext context, string endpoint)
    {
        PairSocket binder = context.CreatePair();
        PairSocket connecter = context.CreatePair();
        Trust(binder.Options.Tls, connecter.Options.Tls);
        connecter.Connect(binder.Bind(endpoint));
        return (binder, connecter);
    }

    private void Trust(TlsOptions server, TlsOptions client)
    {
        server.CertificateFile = _certificates.CertificateFile;
        server.KeyFile = _certificates.KeyFile;
        client.CaFile = _certificates.CaFile;
    }
}
