using System.Net.Sockets;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>An endpoint that the application has let go of, and a peer that takes nothing more and says nothing either, as one behind a
/// path that is gone.</summary>
public sealed class LingeringSilenceTests
{
    // More than all buffers of the system hold between two sockets.
    private const int Messages = 500;
    private const int Length = 64 * 1024;

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly ManualTimeProvider _clock = new();

    [Fact]
    public async Task With_heartbeats_what_waits_leaves_by_the_next_connection()
    {
        await using var fixture = new ContextFixture(time: _clock);
        string name = $"@silent-{Guid.NewGuid():N}";
        Socket listener = fixture.Own(new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified));
        listener.Bind(new UnixDomainSocketEndPoint($"\0{name[1..]}"));
        listener.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(
            new DealerOptions { HeartbeatInterval = Second, HeartbeatTimeout = 3 * Second, HandshakeInterval = default });
        await FillAsync(fixture, dealer, $"ipc://{name}", AcceptAsync);
        Task over = dealer.DisposeAsync().AsTask();
        RawPeer next = await NextAsync(fixture, AcceptAsync());
        await next.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router));
        await ReadToLastAsync(next);
        next.EndSending();
        await over.Guarded();

        async Task<RawPeer> AcceptAsync() => new(await listener.AcceptAsync(Guard.Token).Guarded());
    }

    [Fact]
    public async Task A_connect_of_the_same_endpoint_waits_for_it_no_longer_than_CloseTimeout()
    {
        await using var fixture = new ContextFixture(time: _clock, shutdownTimeout: TimeSpan.Zero); // The clock stands still at the end.
        RawListener listener = fixture.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = 60 * Second, HandshakeInterval = default });
        await FillAsync(fixture, dealer, listener.Endpoint, listener.AcceptAsync);
        dealer.Disconnect(listener.Endpoint);
        dealer.Connect(listener.Endpoint);
        await fixture.UntilAsync(() => dealer.Describe()
            .Contains("it starts after the previous connection to this endpoint, which was disconnected, has sent its queue",
            StringComparison.Ordinal));
        RawPeer next = await NextAsync(fixture, listener.AcceptAsync());
        await next.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router));
        dealer.Send("last"u8);
        await ReadToLastAsync(next);
    }

    /// <summary>A peer that has not read what it was sent.</summary>
    private static async Task FillAsync(ContextFixture fixture, DealerSocket dealer, string endpoint, Func<Task<RawPeer>> accept)
    {
        dealer.Options.SendHighWaterMark = null;
        dealer.Connect(endpoint);
        RawPeer peer = fixture.Own(await accept());
        await peer.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router));
        byte[] body = new byte[Length];
        for (int i = 0; i < Messages; i++)
        {
            dealer.Send(body);
        }

        dealer.Send("last"u8);
        long written = -1;
        await fixture.UntilAsync(() =>
        {
            long before = written;
            written = dealer.GetStatistics().WrittenMessages;
            return written > 0 && written == before;
        });
    }

    private async Task<RawPeer> NextAsync(ContextFixture fixture, Task<RawPeer> next)
    {
        for (int i = 0; i < 20 && !next.IsCompleted; i++)
        {
            _clock.Advance(Second);
            await fixture.SettleAsync();
        }

        return fixture.Own(await next.Guarded());
    }

    private static async Task ReadToLastAsync(RawPeer peer)
    {
        byte[] body;
        do
        {
            byte[] header = await peer.ReadAsync(ZmpFrame.HeaderSize);
            body = await peer.ReadAsync(ZmpFrame.ReadLength(header));
        }
        while (!body.AsSpan().SequenceEqual("last"u8));
    }
}
