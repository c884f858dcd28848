using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Expecting;

/// <summary>One deliberate difference from the native core: what happens instead, from a step of a file on.</summary>
internal sealed record Expectation(string File, int Step, string What)
{
    /// <summary>Further steps, behind those of the file.</summary>
    public IReadOnlyList<string> Steps { get; init; } = [];

    /// <summary>How many connections a scripted listener gets in all; null leaves it as it is.</summary>
    public int? ConnectionsSeen { get; init; }

    /// <summary>These replace the file's actions from the step on; null leaves them as they are. The same for the others.</summary>
    public IReadOnlyList<TranscriptAction>? Actions { get; init; }

    public IReadOnlyList<SentMessage>? Sent { get; init; }

    public IReadOnlyList<WireRecord>? Records { get; init; }

    public IReadOnlyList<DeliveredMessage>? Delivered { get; init; }

    public IReadOnlyList<MonitorEvent>? Events { get; init; }

    public bool IsFor(Transcript transcript) => string.Equals(File, transcript.Name, StringComparison.Ordinal);

    public Transcript ApplyTo(Transcript transcript) => transcript with
    {
        Steps = [.. transcript.Steps, .. Steps],
        ConnectionsSeen = ConnectionsSeen ?? transcript.ConnectionsSeen,
        Actions = Actions is null ? transcript.Actions : [.. transcript.Actions.Where(action => action.Step < Step), .. Actions],
        Sent = Sent is null ? transcript.Sent : [.. transcript.Sent.Where(message => message.Step < Step), .. Sent],
        Records = Records is null ? transcript.Records : [.. transcript.Records.Where(record => record.Step < Step), .. Records],
        Delivered = Delivered is null ? transcript.Delivered
            : [.. transcript.Delivered.Where(message => message.Step < Step), .. Delivered],
        Events = Events is null ? transcript.Events : [.. (transcript.Events ?? []).Where(expected => expected.Step < Step), .. Events],
    };
}
