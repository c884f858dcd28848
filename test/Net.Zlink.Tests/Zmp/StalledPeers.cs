using System.Buffers.Binary;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Peers of a ROUTER that read nothing by themselves: over wires plain sockets, since how much a DEALER with a low mark still
/// takes in is up to the system's timers.</summary>
internal static class StalledPeers
{
    public const string Inproc = "inproc://slow";
    public const string Tcp = "tcp://127.0.0.1:*";

    /// <summary>Connects one.</summary>
    /// <param name="fixture">Ends it.</param>
    /// <param name="router">Knows it when this completes.</param>
    /// <param name="endpoint">As Bind returned it.</param>
    /// <param name="id">Its routing id.</param>
    /// <param name="texts">What it sends.</param>
    public static async Task<IDisposable> ConnectAsync(
        ContextFixture fixture, RouterSocket router, string endpoint, byte[] id, params string[] texts)
    {
        int there = router.GetPeers().Count(p => p.RoutingId.Span.SequenceEqual(id)) + 1;
        IDisposable peer;
        if (endpoint.StartsWith("inproc:", StringComparison.Ordinal))
        {
            DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = id, ReceiveHighWaterMark = 1 });
            dealer.Connect(endpoint);
            foreach (string text in texts)
            {
                dealer.Send(text);
            }

            peer = dealer;
        }
        else
        {
            RawPeer raw = await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
            await raw.SendAsync((byte[])[.. ZmpFixture.DealerGreeting(id),
                .. texts.SelectMany(static text => ZmpFixture.Frame(0, System.Text.Encoding.ASCII.GetBytes(text)))]);
            peer = raw;
        }

        await fixture.UntilAsync(() => router.GetPeers().Count(p => p.RoutingId.Span.SequenceEqual(id)) == there);
        return peer;
    }

    /// <summary>The next message of data.</summary>
    public static async Task<byte[]> ReadAsync(IDisposable peer)
    {
        if (peer is DealerSocket dealer)
        {
            using Message message = await dealer.ReceiveAsync(Guard.Token).Guarded();
            return message.Span.ToArray();
        }

        while (true)
        {
            byte[] header = await ((RawPeer)peer).ReadAsync(8);
            byte[] payload = await ((RawPeer)peer).ReadAsync(BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(4)));
            if (header[2] == 0)
            {
                return payload; // The others are HELLO and READY.
            }
        }
    }

    /// <summary>Sends until one waits.</summary>
    public static Task FirstThatWaits(Func<ValueTask> send)
    {
        while (true)
        {
            Task sending = send().AsTask();
            if (!sending.IsCompleted)
            {
                return sending;
            }
        }
    }
}
