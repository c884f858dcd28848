using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Flow;
using Samples;

namespace Net.Zlink.Tests.Child;

/// <summary>
/// Where the application's certificate callbacks run, at both ends, and where connections go behind their handshakes. Says CALLBACKS, how
/// many there were, how many of them were not on a thread of their own, and how many
/// connections the server's fullest shard of two has.
/// </summary>
internal static class HandshakeProcess
{
    private const int Connections = 20;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private static int s_calls;
    private static int s_elsewhere;

    public static async Task<int> RunAsync(string scheme)
    {
        using X509Certificate2 certificate = CertificateMaker.Make("CN=both", ["127.0.0.1"]);
        await using var context = new ZlinkContext(new ZlinkContextOptions { ShardCount = 2, TlsAndWebSocketShardCount = 2 });
        await using StreamSocket server = context.CreateStream();
        Prepare(server.Options.Tls, certificate);
        server.Options.Tls.RequireClientCertificate = true;
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0", new EchoHandler());
        await using var other = new ZlinkContext();
        await using StreamSocket client = other.CreateStream();
        Prepare(client.Options.Tls, certificate);
        using var limit = new CancellationTokenSource(Limit);
        for (int i = 0; i < Connections; i++)
        {
            await client.ConnectAsync(endpoint, limit.Token);
        }

        while (server.PeerCount < Connections && !limit.IsCancellationRequested)
        {
            await Task.Yield(); // The last one's server is a step behind its client.
        }

        Console.WriteLine($"CALLBACKS {Volatile.Read(ref s_calls)}, elsewhere: {Volatile.Read(ref s_elsewhere)}, fullest shard: "
            + $"{context.Host.Shards.All.Max(static shard => shard.Counters.Connections)}");
        return 0;
    }

    private static void Prepare(TlsOptions options, X509Certificate2 certificate)
    {
        options.Certificate = certificate;
        options.Validation = static (_, _, _, _) =>
        {
            Interlocked.Increment(ref s_calls);
            if (!OwnThread.IsCurrent)
            {
                Interlocked.Increment(ref s_elsewhere);
            }

            return true;
        };
    }
}
