using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Serialization;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink;

/// <summary>One answer (docs/monitoring.md). <see cref="Version"/> changes where a reader would misread it.</summary>
internal sealed record DiagnosticsSnapshot(
    int Version, string Program, int ProcessId, DateTimeOffset StartedAt, DateTimeOffset At, string? Context, ContextStatistics Statistics,
    List<SocketSnapshot> Sockets)
{
    private const int MaxSockets = 1000;
    private const int MaxPeers = 1000;
    private const int MaxPeersOfSocket = 100;

    private static readonly DateTimeOffset s_startedAt = new(Process.GetCurrentProcess().StartTime.ToUniversalTime());

    public static byte[] Write(ZlinkContext context, IEnumerable<(int Number, ZlinkSocket Socket)> sockets)
    {
        int peersLeft = MaxPeers;
        List<SocketSnapshot> shown = [];
        foreach ((int number, ZlinkSocket socket) in sockets.Take(MaxSockets))
        {
            var one = SocketSnapshot.Of(number, socket, Math.Min(peersLeft, MaxPeersOfSocket));
            peersLeft -= one.ShownPeers;
            shown.Add(one);
        }

        var answer = new DiagnosticsSnapshot(
            1, AppDomain.CurrentDomain.FriendlyName, Environment.ProcessId, s_startedAt, TimeProvider.System.GetUtcNow(),
            context.Name, context.GetStatistics(), shown);
        return JsonSerializer.SerializeToUtf8Bytes(answer, DiagnosticsJson.Default.DiagnosticsSnapshot);
    }
}

/// <summary>Peers of a STREAM socket have other figures than those of the other types.</summary>
internal sealed record SocketSnapshot(
    int Id, string Type, bool IsClosed, IReadOnlyList<string> Bound, IReadOnlyList<string> ConnectsTo, string[] Problems,
    SocketStatistics Statistics, PeerInfo[]? Peers, StreamPeerSnapshot[]? StreamPeers)
{
    [JsonIgnore]
    public int ShownPeers => (Peers?.Length ?? 0) + (StreamPeers?.Length ?? 0);

    public static SocketSnapshot Of(int id, ZlinkSocket socket, int maxPeers)
    {
        EndpointStatus[] endpoints = socket.Endpoints;
        return new SocketSnapshot(
            id, socket.Core.TypeName, socket.Parts.IsClosed, EndpointStatus.RedactedTextsOf(endpoints, areBound: true),
            EndpointStatus.RedactedTextsOf(endpoints, areBound: false),
            [.. socket.DescribeProblems()],
            socket.GetStatistics(),
            socket is ZmpSocket zmp ? [.. zmp.GetPeers().Take(maxPeers)] : null,
            socket is StreamSocket stream ? [.. stream.GetPeers().Take(maxPeers).Select(StreamPeerSnapshot.Of)] : null);
    }
}

internal sealed record StreamPeerSnapshot(uint Id, string Endpoint, string RemoteAddress, PeerStatistics Statistics)
{
    public static StreamPeerSnapshot Of(StreamPeer peer) => new(peer.Id, peer.Endpoint, peer.RemoteText, peer.GetStatistics());
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(DiagnosticsSnapshot))]
internal sealed partial class DiagnosticsJson : JsonSerializerContext;
