using System.Globalization;
using System.Text.Json;

namespace Net.Zlink.Tool.Commands;

/// <summary>What a process says of a context (docs/monitoring.md has the whole answer), as far as <c>top</c> shows it.</summary>
internal sealed record TopSnapshot(
    int Version, string Program, int ProcessId, DateTimeOffset StartedAt, DateTimeOffset At, string? Context, TopContext Statistics,
    TopSocket[] Sockets)
{
    /// <summary>A thousand sockets and a thousand peers are about 3 MB.</summary>
    public const long LongestAnswer = 64 * 1024 * 1024;

    private const int KnownVersion = 1;

    public string Title
    {
        get
        {
            string context = Context is null ? "" : $", context {Context}";
            string time = TopTable.Time(At - StartedAt);
            return string.Create(CultureInfo.InvariantCulture, $"{Program}, process {ProcessId}{context}, up {time}");
        }
    }

    public static TopSnapshot Read(string endpoint, byte[] answer)
    {
        try
        {
            using var document = JsonDocument.Parse(answer);
            if (document.RootElement.TryGetProperty("version", out JsonElement version) && version.TryGetInt32(out int number)
                && number != KnownVersion)
            {
                throw new ToolException($"{endpoint} serves diagnostics of version {number}, and this program knows version "
                    + $"{KnownVersion}: update the older one of the two");
            }

            TopSnapshot? facts = document.Deserialize<TopSnapshot>(JsonSerializerOptions.Web);
            return facts is { Sockets: not null, Statistics: not null } && facts.Sockets.All(static one => one is { IsWhole: true })
                ? facts
                : throw NotDiagnostics(endpoint, "its answer lacks what is to be shown");
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            throw NotDiagnostics(endpoint, "its answer is not JSON as expected");
        }
    }

    public static ToolException NotDiagnostics(string endpoint, string why) => new(
        $"what listens at {endpoint} does not serve diagnostics: {why}. Name the endpoint that OpenDiagnostics returned in the program");
}

internal sealed record TopContext(long QueuedBytes, int QueuesWaiting);

internal sealed record TopSocket(
    int Id, string Type, bool IsClosed, string[]? Bound, string[]? ConnectsTo, string[]? Problems, TopCounts Statistics, TopPeer[]? Peers,
    TopStreamPeer[]? StreamPeers)
{
    public bool IsWhole => Statistics is not null && Peers?.Contains(null!) is not true
        && StreamPeers?.All(static one => one is { Statistics: not null }) is not false;

    /// <summary>Of both kinds of sockets in one shape.</summary>
    public IEnumerable<TopPeer> AllPeers => (Peers ?? []).Concat((StreamPeers ?? []).Select(static one => one.AsPeer));

    /// <summary>Connections that were made again. A STREAM socket makes a new one for each call.</summary>
    public long Reconnects => Type is "STREAM" ? 0 : Math.Max(0, Statistics.DialledConnections - (ConnectsTo?.Length ?? 0));
}

internal sealed record TopCounts(
    int Peers, long DialledConnections, long WrittenMessages, long WrittenBytes, long QueuedMessages, long DroppedMessages,
    long ObsoleteMessages, long DroppedAtHighWaterMark, long DroppedAtByteLimit, long DroppedAtContextLimit, long DroppedUnroutable,
    long UnmatchedMessages, long ReceivedMessages, long ReceivedBytes, long UnreadMessages, long DroppedUnreadMessages,
    long RefusedConnections, long FailedHandshakes)
{
    public long Dropped => Causes.Aggregate(0L, static (sum, one) => sum + one.Count); // Never fails, whatever a process says.

    /// <summary>As in the metric zlink.socket.dropped, but for messages that nobody misses.</summary>
    public (string Cause, long Count)[] Causes =>
    [
        ("connection lost", DroppedMessages - ObsoleteMessages), ("high-water mark", DroppedAtHighWaterMark),
        ("byte limit", DroppedAtByteLimit), ("context limit", DroppedAtContextLimit), ("unroutable", DroppedUnroutable),
        ("unmatched", UnmatchedMessages), ("unread", DroppedUnreadMessages),
    ];
}

internal readonly record struct TopQueue(long Messages);

internal sealed record TopPeer(
    string? RoutingId, string? Endpoint, string? RemoteAddress, bool IsConnected, string? WhyNotConnected, TimeSpan? ConnectedFor,
    bool IsPaused, long MessagesSent, long BytesSent, long MessagesReceived, long BytesReceived, long MessagesDropped, TopQueue Outbound,
    TopQueue Unread)
{
    // One that a socket has made is 34 characters.
    private const int LongestId = 16;

    /// <summary>What is the same in the next answer.</summary>
    public string Key => $"{RoutingId} {RemoteAddress} {Endpoint}";

    public string Name => string.Join(' ', new[] { ShortId, string.IsNullOrEmpty(RemoteAddress) ? Endpoint : RemoteAddress }
        .Where(static text => !string.IsNullOrEmpty(text)));

    private string? ShortId => RoutingId is { Length: > LongestId } id ? $"{id.AsSpan(0, LongestId - 1)}…" : RoutingId;

    public string State => this switch
    {
        { IsConnected: false } => "not connected",
        { IsPaused: true } => "not read", // The program receives more slowly than the peer sends.
        { ConnectedFor: { } time } => $"up {TopTable.Time(time)}",
        _ => "connected",
    };
}

internal sealed record TopStreamPeer(uint Id, string? Endpoint, string? RemoteAddress, TopStreamCounts Statistics)
{
    public TopPeer AsPeer => new(
        Id.ToString(CultureInfo.InvariantCulture), Endpoint, RemoteAddress, IsConnected: true, null, null, Statistics.IsPaused,
        Statistics.WrittenMessages, Statistics.WrittenBytes, Statistics.ReceivedMessages, Statistics.ReceivedBytes,
        Statistics.DroppedMessages, new TopQueue(Statistics.QueuedMessages), new TopQueue(Statistics.UnreadMessages));
}

internal sealed record TopStreamCounts(
    long WrittenMessages, long WrittenBytes, long ReceivedMessages, long ReceivedBytes, long DroppedMessages, long QueuedMessages,
    long UnreadMessages, bool IsPaused);
