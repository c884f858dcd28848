using System.Net;
using System.Net.Sockets;
using Net.Zlink.Conformance.Tests.Replay.Driving;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Replay.Reading;
using Net.Zlink.Conformance.Tests.Replay.Severing;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>How much of a long run of bytes split and severed go through one by one.</summary>
public sealed class SamplingTests
{
    private const int Long = 70_000;

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public void A_long_record_is_cut_at_its_edges_and_in_64_places_between()
    {
        Cut[] cuts = [.. SeveredRuns.Of(OfOneRecord(Long), "b", Sampling.Some)];
        Assert.Equal(3 * 64, cuts.Length);
        Assert.Equal(Enumerable.Range(1, 64), cuts[..64].Select(cut => cut.Bytes));
        Assert.Equal(Enumerable.Range(Long - 63, 64), cuts[^64..].Select(cut => cut.Bytes));
    }

    [Fact]
    public void Without_sampling_a_long_record_is_cut_behind_every_byte() =>
        Assert.Equal(Enumerable.Range(1, Long), SeveredRuns.Of(OfOneRecord(Long), "b", Sampling.None).Select(cut => cut.Bytes));

    [Fact]
    public void A_long_run_is_waited_for_at_its_edges_and_at_every_1024th_byte() =>
        Assert.Equal(2 * 64 + (Long / 1024), Enumerable.Range(0, Long).Count(at => Sampling.Some.IsWaitedFor(at, Long)));

    [Fact]
    public async Task Without_sampling_every_byte_of_a_split_run_is_read_alone()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere the system can't be asked what was read.");
        const int Length = 1000;
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(listener.LocalEndpoint, Cancellation);
        using var played = new TcpConnection(1, socket, new Signal(), static () => 0);
        using Socket reader = await listener.AcceptSocketAsync(Cancellation);
        Task<List<int>> reads = ReadAsync(reader, Length);
        var options = new ReplayOptions(Variant.Split) { Sampling = Sampling.None };
        var stillness = new KernelStillness(null!, null!, options.Guard);
        await new PlayedSender(options, stillness).SendAsync(played, new byte[Length], segment: null);
        Assert.Equal(Enumerable.Repeat(1, Length), await reads);
    }

    private static async Task<List<int>> ReadAsync(Socket socket, int bytes)
    {
        var sizes = new List<int>();
        byte[] into = new byte[bytes];
        while (sizes.Sum() < bytes)
        {
            sizes.Add(await socket.ReceiveAsync(into, Cancellation));
        }

        return sizes;
    }

    private static Transcript OfOneRecord(int length)
    {
        Transcript one = TranscriptReader.ReadText(
            """
            {
             "name": "one", "description": "x", "steps": ["speak"],
             "a": {"type": "RAW", "role": "connect", "options": {}},
             "b": {"type": "STREAM", "role": "bind", "options": {}, "transport": "tcp"},
             "actions": [{"step": 0, "at": "b", "do": "bind"}, {"step": 0, "at": "a", "do": "connect", "conn": 1}],
             "records": [{"from": "a", "hex": "00", "step": 0}],
             "closed": [{"conn": 1, "by": null, "how": null}]
            }
            """,
            "one");
        return one with { Records = [one.Records[0] with { Bytes = new byte[length] }] };
    }
}
