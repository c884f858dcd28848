using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Sockets over one transport that are disposed at work. A class for each transport, since each takes seconds and they can run
/// beside each other.</summary>
public abstract class DisposedAtWorkTests(string scheme) : IDisposable
{
    private readonly TestCertificates _certificates = new();

    public void Dispose()
    {
        _certificates.Dispose();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public async Task Disposed_at_work_again_and_again_nothing_hangs_and_every_buffer_comes_back()
    {
        const int Rounds = 120; // Ten of each of the twelve ways to end that follow, each later in the work than the one before.
        int step = SlowTests.Rounds(5, all: 1); // Five and twelve have no common divisor: each way comes, twice.
        for (int round = 0; round < Rounds; round += step)
        {
            using var pool = new BufferPool(new BufferPoolOptions
            {
                // Nothing is warmed 120 times.
                ClassPolicies = BufferPoolOptions.PerClass(static _ => new BufferClassPolicy { KeepLimit = 64 }),
                LeakCheck = true,
            });
            var context = new ZlinkContext(new ZlinkContextOptions { ShardCount = 2, Pool = pool });
            StreamSocket server = context.CreateStream();
            server.Options.Tls.Certificate = _certificates.Server;
            server.Options.Linger = TimeSpan.Zero;
            string endpoint = server.Bind($"{scheme}://127.0.0.1:0", new TestHandler { TakesNotes = false, Received = Answer });
            StreamSocket client = context.CreateStream();
            client.Options.Tls.VerifyPeer = false;
            client.Options.Linger = TimeSpan.Zero;
            uint[] ids = [await client.ConnectAsync(endpoint, Guard.Token).Guarded(),
                await client.ConnectAsync(endpoint, Guard.Token).Guarded()];
            Task working = Task.Run(() => WorkAsync(client, ids), Guard.Token);
            Task connecting = Task.Run(() => ConnectAsync(client, endpoint), Guard.Token);
            int before = round * 5;
            await Guard.UntilAsync(() => server.GetStatistics().ReceivedMessages >= before, "the server is at work");

            switch (round % 4)
            {
                case 0:
                    client.Dispose();
                    break;
                case 1:
                    server.Dispose();
                    break;
                case 2:
                    server.Unbind(endpoint);
                    break;
                default:
                    break;
            }

            await context.ShutdownAsync(round % 3 == 0 ? TimeSpan.Zero : Guard.Limit, Guard.Token).Guarded();
            await working.Guarded();
            await connecting.Guarded();
            await AssertAllBackAsync(pool);
        }
    }

    private static ValueTask Answer(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            peer.TrySend(payload.Span);
        }

        return ValueTask.CompletedTask;
    }

    private static async Task WorkAsync(StreamSocket client, uint[] ids)
    {
        byte[] payload = new byte[3_000];
        try
        {
            while (true)
            {
                bool sent = false;
                foreach (uint id in ids)
                {
                    sent |= client.To(id).TrySend(payload);
                }

                while (client.TryReceive(out StreamMessage message))
                {
                    message.Dispose();
                }

                if (!sent && client.PeerCount == 0)
                {
                    return;
                }

                await Task.Yield();
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            // The end that this test is about.
        }
    }

    private static async Task ConnectAsync(StreamSocket client, string endpoint)
    {
        try
        {
            while (true)
            {
                client.Disconnect(await client.ConnectAsync(endpoint, Guard.Token));
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException or OperationCanceledException)
        {
            // As above.
        }
    }

    private static async Task AssertAllBackAsync(BufferPool pool)
    {
        long started = TimeProvider.System.GetTimestamp();
        while (pool.GetOutstanding().Count > 0 && TimeProvider.System.GetElapsedTime(started) < TimeSpan.FromSeconds(5))
        {
            await Task.Yield();
        }

        IReadOnlyList<BufferLeak> leaks = pool.GetOutstanding();
        Assert.True(leaks.Count == 0, leaks.Count == 0 ? ""
            : $"{leaks.Count} buffers did not come back, the first of {leaks[0].Length} bytes, rented by {leaks[0].RentedBy}");
    }
}

public sealed class TlsDisposedAtWorkTests() : DisposedAtWorkTests("tls");

public sealed class WsDisposedAtWorkTests() : DisposedAtWorkTests("ws");

public sealed class WssDisposedAtWorkTests() : DisposedAtWorkTests("wss");
