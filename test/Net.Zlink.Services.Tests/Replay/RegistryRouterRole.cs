using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests.Replay;

/// <summary>The registry's ROUTER: answers each recorded request with the recorded bytes, or not at all, and lists then what the requests
/// say.</summary>
internal sealed class RegistryRouterRole : Role
{
    private const string LastService = "the replayer's last request";

    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(50);

    public override string Name => "registry, router";

    public override bool Plays(ServiceTranscript transcript) =>
        (transcript.TypeOfA, transcript.TypeOfB) == (SocketKind.Dealer, SocketKind.Router);

    public override async Task PlayAsync(ServiceTranscript transcript)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        using var peer = new PeerPublisher(fixture.Context);
        ServiceRegistry registry = fixture.Start(options =>
        {
            options.RouterSocket.RoutingId = transcript.IdOfB;
            options.Peers = [peer.Endpoint];
        });

        // The scene: what a peer has where an answer says so, and what is heartbeat or removed although nobody registered it on this
        // connection.
        await peer.ListAsync(registry, [.. NotLocal(transcript)]);
        Support.RegistryClient other = fixture.Connect(registry.RouterEndpoint, transcript.IdOfA);
        var expected = new HashSet<(ushort Kind, string Service, string Endpoint)>();
        foreach ((ushort kind, string service, string endpoint) in RegisteredBefore(transcript))
        {
            string registered = await other.AskAsync(Support.RegistryClient.Register(service, endpoint, 1, kind));
            Assert.StartsWith("0 ", registered, StringComparison.Ordinal);
            expected.Add((kind, service, endpoint));
        }

        using RawPeer raw = await RawPeer.ConnectAsync(registry.RouterEndpoint);
        var connection = new PlayedConnection(raw, $"{transcript.File}, {Name}");
        await connection.ShakeHandsAsync(transcript, oursIsA: false);
        TimeSpan heard = default;
        long before = registry.GetSnapshot().Requests;
        foreach (TranscriptRecord record in transcript.Data)
        {
            if (!record.FromA)
            {
                connection.Same(record, WithoutMark(await connection.ReadAsync(fromA: false)));
                continue;
            }

            clock.Advance(Step);
            await connection.SendAsync(record);
            Follow(expected, transcript, record);
            heard = record.MessageId == MessageIds.Heartbeat ? clock.Elapsed : heard;
            await Guard.UntilAsync(() => registry.GetSnapshot().Requests == before + Requests(transcript, record),
                $"{transcript.File}, {Name}: the request is read");
        }

        // An answer to one more request proves that the requests before it drew none.
        await connection.SendAsync(new TranscriptRecord(FromA: true, Frames(Support.RegistryClient.Register(LastService, "e")), 0, []));
        TranscriptRecord answer = await connection.ReadAsync(fromA: false);
        Assert.Equal((2, 0, "e"), (answer.Parts[0][0], answer.Parts[1][0], Text(answer.Parts[2])));
        RegistryEntry[] own = [.. registry.GetSnapshot()
            .Entries.Where(entry => entry.OwnerId == registry.Id && entry.Instance.Service is not LastService)];
        Assert.Equal(expected.Order(), own.Select(static entry => ((ushort)entry.Kind, entry.Instance.Service, entry.Instance.Endpoint))
            .Order());
        if (transcript.Data[^1].MessageId == MessageIds.Heartbeat)
        {
            Assert.Equal(clock.GetUtcNow() - (clock.Elapsed - heard), Assert.Single(own).LastHeartbeatAt);
        }
    }

    /// <summary>Behind what the native registry sends, ours has one more frame, which native readers skip.</summary>
    private static TranscriptRecord WithoutMark(TranscriptRecord ack)
    {
        Assert.Equal("ZRG\u0001"u8, ack.Parts[^1]);
        return TranscriptRecord.Parse(ack.FromA, Frames(ack.Parts[..^1]));
    }

    private static int Requests(ServiceTranscript transcript, TranscriptRecord record) =>
        transcript.Data.TakeWhile(other => other != record).Count(static other => other.FromA) + 1;

    /// <summary>What a request does, by its answer where it has one.</summary>
    private static void Follow(HashSet<(ushort Kind, string Service, string Endpoint)> own, ServiceTranscript transcript,
        TranscriptRecord record)
    {
        TranscriptRecord? answer = transcript.Data.SkipWhile(other => other != record).Skip(1).FirstOrDefault() is { FromA: false } next
            ? next : null;
        if (record.MessageId == MessageIds.Register && answer is { Parts: [_, [0], ..] })
        {
            own.Add((record.Parts[1][0], Text(record.Parts[2]), Text(record.Parts[3])));
        }
        else if (record.MessageId == MessageIds.Unregister && record.Parts.Length >= 4)
        {
            own.Remove((record.Parts[1][0], Text(record.Parts[2]), Text(record.Parts[3])));
        }
    }

    private static IEnumerable<(string Service, string Endpoint)> NotLocal(ServiceTranscript transcript) =>
        from pair in transcript.Data.Zip(transcript.Data.Skip(1))
        where pair is { First: { FromA: true, MessageId: MessageIds.UpdateWeight }, Second.FromA: false }
            && Text(pair.Second.Parts[^1]) is "provider not local"
        select (Text(pair.First.Parts[2]), Text(pair.First.Parts[3]));

    /// <summary>Where a file has no REGISTER at all, what it is about was registered by another connection.</summary>
    private static IEnumerable<(ushort Kind, string Service, string Endpoint)> RegisteredBefore(ServiceTranscript transcript) =>
        transcript.Data.Any(static record => record.MessageId == MessageIds.Register) ? [] :
        transcript.Data.Where(static record => record is { FromA: true, Parts.Length: >= 4 })
            .Select(static record => ((ushort)record.Parts[1][0], Text(record.Parts[2]), Text(record.Parts[3]))).Distinct();

    internal static byte[] Frames(byte[][] parts) =>
        [.. parts.SelectMany((part, i) => (byte[])[0x5A, 1, (byte)(i < parts.Length - 1 ? 1 : 0), 0, 0, 0, 0, (byte)part.Length, .. part])];
}
