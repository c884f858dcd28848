using System.Globalization;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>What peers do wrong is a warning once a minute for each reason, however often they do it.</summary>
public sealed class PeerWarningsTests : IDisposable
{
    private readonly ManualTimeProvider _time = new();
    private readonly RecordingLoggers _log = new();

    private IEnumerable<string> Warnings => _log.Lines.Where(static one => one.Level >= LogLevel.Warning).Select(static one => one.Text);

    public void Dispose() => _log.Dispose();

    [Fact]
    public void A_sentence_is_logged_again_when_its_minute_is_over_and_at_once_for_another_endpoint()
    {
        var warnings = new PeerWarnings(_log, _time);
        warnings.ConnectionRefused("tcp://a", "full");
        warnings.ConnectionRefused("tcp://a", "full");
        warnings.HandshakeFailed("tcp://a", "tcp://x", HandshakeFailure.Malformed, "magic");
        warnings.HandshakeFailed("tcp://a", "tcp://y", HandshakeFailure.Malformed, "magic");
        Assert.Equal(2, Warnings.Count());
        warnings.ConnectionRefused("tcp://b", "full");
        Assert.Equal(3, Warnings.Count());
        _time.Advance(PeerWarnings.Silence - TimeSpan.FromTicks(1));
        warnings.ConnectionRefused("tcp://a", "full");
        Assert.Equal(3, Warnings.Count());
        _time.Advance(TimeSpan.FromTicks(1));
        warnings.ConnectionRefused("tcp://a", "full");
        warnings.ConnectionRefused("tcp://a", "full");
        Assert.Equal(4, Warnings.Count());
    }

    [Fact]
    public void An_accept_that_fails_five_times_a_second_is_one_warning_a_minute_for_each_error()
    {
        var warnings = new PeerWarnings(_log, _time);
        for (int i = 0; i < 100; i++)
        {
            warnings.AcceptFailed("tcp://a", SocketError.TooManyOpenSockets, TimeSpan.FromMilliseconds(200));
            _time.Advance(TimeSpan.FromMilliseconds(200));
        }

        Assert.Single(Warnings);
        warnings.AcceptFailed("tcp://a", SocketError.NoBufferSpaceAvailable, TimeSpan.FromMilliseconds(200));
        Assert.Equal(2, Warnings.Count());
    }

    [Fact]
    public void An_endpoint_whose_peers_make_up_reasons_has_16_lines_a_minute_and_the_last_says_so()
    {
        var warnings = new PeerWarnings(_log, _time);
        for (int round = 1; round <= 2; round++)
        {
            for (int i = 0; i < 1_000; i++)
            {
                warnings.HandshakeFailed("tcp://a", "tcp://x", HandshakeFailure.Malformed, i.ToString(CultureInfo.InvariantCulture));
            }

            Assert.Equal(round * PeerWarnings.MaxPerEndpoint, Warnings.Count());
            Assert.Contains("are not logged", Warnings.Last(), StringComparison.Ordinal);
            _time.Advance(PeerWarnings.Silence);
        }
    }

    [Fact]
    public void Undelivered_messages_are_logged_by_peer_in_at_most_16_lines_that_other_warnings_do_not_use()
    {
        var warnings = new PeerWarnings(_log, _time);
        for (int i = 0; i < 100; i++)
        {
            warnings.Undelivered(i.ToString(CultureInfo.InvariantCulture), "tcp://a", 1, 10);
        }

        Assert.Equal(PeerWarnings.MaxPerEndpoint, Warnings.Count());
        Assert.Contains("1 accepted messages (10 bytes) were not delivered", Warnings.First(), StringComparison.Ordinal);
        warnings.ConnectionRefused("tcp://a", "full");
        warnings.FilesNotRenewed("tcp://a", "cut off");
        Assert.Equal(PeerWarnings.MaxPerEndpoint + 2, Warnings.Count());
    }

    [Theory]
    [InlineData("STREAM, full")]
    [InlineData("ZMP, full")]
    [InlineData("ZMP, not ZMP")]
    public async Task Peers_that_come_again_and_again_are_one_line_and_many_events(string what)
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { TimeProvider = _time, LoggerFactory = _log });
        string endpoint;
        Func<long> count;
        if (what.StartsWith("STREAM", StringComparison.Ordinal))
        {
            StreamSocket server = context.CreateStream(new StreamOptions { MaxConnections = 1 });
            endpoint = server.Bind("tcp://127.0.0.1:0");
            count = () => server.GetStatistics().RefusedConnections;
        }
        else
        {
            bool isFull = what.EndsWith("full", StringComparison.Ordinal);
            RouterSocket server = context.CreateRouter(new RouterOptions { MaxConnections = isFull ? 1 : null });
            endpoint = server.Bind("tcp://127.0.0.1:0");
            count = () => isFull ? server.GetStatistics().RefusedConnections : server.GetStatistics().FailedHandshakes;
        }

        var peers = new List<RawPeer>();
        try
        {
            for (int i = 0; i < 6; i++)
            {
                RawPeer peer = await RawPeer.ConnectAsync(endpoint);
                peers.Add(peer);
                if (what.EndsWith("not ZMP", StringComparison.Ordinal))
                {
                    await peer.SendAsync("GET / HTTP/1.1\r\n\r\n"u8.ToArray());
                }
            }

            await Guard.UntilAsync(() => count() >= 5, "they are turned away");
        }
        finally
        {
            peers.ForEach(static peer => peer.Dispose());
        }

        await Guard.UntilAsync(() => OfEndpoint().Any(), "the log hears of it");
        await context.DisposeAsync().Guarded();
        Assert.Single(OfEndpoint());

        // Not the others: a machine with more to do than it can has a warning for that, too.
        IEnumerable<string> OfEndpoint() => Warnings.Where(line => line.StartsWith(endpoint, StringComparison.Ordinal));
    }
}
