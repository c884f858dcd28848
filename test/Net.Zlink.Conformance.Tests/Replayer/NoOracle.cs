using Net.Zlink.Conformance.Tests.Replay.Severing;

namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>For recordings, which are never severed.</summary>
internal sealed class NoOracle : ISeveringOracle
{
    public SeveredOutcome Expect(Severance severance) => throw new NotSupportedException("A recording is not severed.");
}
