using Net.Zlink.Conformance.Tests.Replay.Comparing;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Played;
using Net.Zlink.Conformance.Tests.Replay.Severing;

namespace Net.Zlink.Conformance.Tests.Replay.Forms;

/// <summary>
/// What depends on the transport: how much of what is expected has come, whether it is the same, and what a played side must change in its
/// own bytes. How much is counted in units: bytes on tcp.
/// One object serves one replay, and only the replay's own flow calls it.
/// </summary>
internal abstract class WireForm
{
    /// <summary>What is counted, in words.</summary>
    public abstract string Unit { get; }

    public static WireForm For(Transcript transcript, string implemented, RandomValues random)
        => transcript.IsWs ? new WsForm(transcript, implemented, random) : new TcpForm(random);

    /// <summary>How many units the record has.</summary>
    public abstract int UnitsOf(WireRecord record);

    /// <summary>How many units have come on a connection so far.</summary>
    public abstract int ReceivedOn(PlayedConnection connection);

    /// <summary>When, by the replay's clock, so many units were there.</summary>
    public abstract long ArrivalOf(PlayedConnection connection, int units);

    /// <summary>The record's bytes as the played side must send them in this run.</summary>
    public abstract byte[] BytesToSend(WireRecord record);

    /// <summary>Compares all that has come on a connection since the last call; null when it is what these records say.</summary>
    public abstract string? Compare(PlayedConnection connection, IReadOnlyList<WireRecord> records);

    /// <summary>The same for a connection that was cut: there may be less, but nothing else.</summary>
    public abstract string? CompareBeginning(PlayedConnection connection, IReadOnlyList<WireRecord> records);

    /// <summary>A cut as the oracles see it, which know the protocol but no transport.</summary>
    public abstract Severance Unwrap(Severance severance);
}
