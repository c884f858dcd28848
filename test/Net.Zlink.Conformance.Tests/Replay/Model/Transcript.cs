namespace Net.Zlink.Conformance.Tests.Replay.Model;

/// <summary>One recorded conversation.</summary>
internal sealed record Transcript(string Name, IReadOnlyList<string> Steps, IReadOnlyDictionary<string, Side> Sides)
{
    public IReadOnlyList<TranscriptAction> Actions { get; init; } = [];

    public IReadOnlyList<SentMessage> Sent { get; init; } = [];

    public IReadOnlyList<WireRecord> Records { get; init; } = [];

    public IReadOnlyList<DeliveredMessage> Delivered { get; init; } = [];

    /// <summary>Null when no side has a monitor.</summary>
    public IReadOnlyList<MonitorEvent>? Events { get; init; }

    /// <summary>Timers decide the result.</summary>
    public bool Timed { get; init; }

    /// <summary>Steps in which both sides of a new connection speak at once.</summary>
    public IReadOnlySet<int> HandshakeSteps { get; init; } = new HashSet<int>();

    /// <summary>How many connections a scripted listener gets in all; null when there is no such listener.</summary>
    public int? ConnectionsSeen { get; init; }

    public IReadOnlyList<Difference> Differences { get; init; } = [];

    /// <summary>The first difference that we should make and of which nobody has said how: from its step on nothing can be compared. Null:
    /// there is none.</summary>
    public Difference? Undecided { get; init; }

    /// <summary>The transport of the native sides, which is one for all of a file.</summary>
    public string Transport => Sides.Values.First(side => !side.IsRaw).Transport ?? Side.Tcp;

    public bool IsWs => string.Equals(Transport, Side.Ws, StringComparison.Ordinal);

    public bool HasRawSide => Sides.Values.Any(side => side.IsRaw);

    /// <summary>The side that opens a connection: the one whose connect action names it, and a for those that a opens again by
    /// itself.</summary>
    public string ConnectorOf(int connection)
        => Actions.FirstOrDefault(action => action.Kind is ActionKind.Connect && action.Connection == connection)?.At ?? "a";
}

/// <summary>Where a new implementation should, or may, do something else from <paramref name="Step"/> on; not <paramref name="Visible"/>:
/// in a way that the file does not show.</summary>
internal sealed record Difference(int Step, string What, bool Should, bool Visible);
