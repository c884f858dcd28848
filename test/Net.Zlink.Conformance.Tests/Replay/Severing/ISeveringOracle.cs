using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Severing;

/// <summary>
/// Says what must be there when a connection ends behind a given byte: messages that were whole by then, in order, nothing of what
/// followed,
/// and the loss reported as for any lost connection. Only the protocol knows where a message ends, so each has an oracle.
/// </summary>
internal interface ISeveringOracle
{
    SeveredOutcome Expect(Severance severance);
}

/// <param name="Transcript">The conversation, with our differences applied.</param>
/// <param name="Implemented">The side under test.</param>
/// <param name="Step">The step that the cut falls into.</param>
/// <param name="Connection">The connection that is cut.</param>
/// <param name="Played">All that played sides sent, on all connections, from the start to the cut, in order.</param>
internal sealed record Severance(Transcript Transcript, string Implemented, int Step, int Connection, IReadOnlyList<PlayedBytes> Played)
{
    /// <summary>Connections whose transport had a handshake of its own and had not completed it: nothing of the protocol was on
    /// them.</summary>
    public IReadOnlySet<int> NeverUp { get; init; } = new HashSet<int>();
}

/// <summary>Bytes that a played side sent.</summary>
internal sealed record PlayedBytes(int Connection, int Step, byte[] Bytes);

/// <param name="Delivered">
/// All that the application gets in the step of the cut, a line for each peer: its order is compared within a line, since a loss may
/// overtake what other peers have sent.
/// Earlier steps are as in the transcript.
/// </param>
/// <param name="Events">All events from the start to the end, or null without a monitor.</param>
internal sealed record SeveredOutcome(IReadOnlyList<IReadOnlyList<DeliveredMessage>> Delivered, IReadOnlyList<MonitorEvent>? Events);
