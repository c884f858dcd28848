using Net.Zlink.Conformance.Tests.Sides.Zmp;

namespace Net.Zlink.Conformance.Tests.Sides;

/// <summary>The socket types that the library can take in a transcript. A type that is not here makes its transcripts fail, with its
/// name.</summary>
internal static class SideTable
{
    public static readonly IReadOnlyDictionary<string, SideAdapter> Adapters = new Dictionary<string, SideAdapter>(StringComparer.Ordinal)
    {
        ["STREAM"] = new(static request => new StreamSide(request), new StreamSeveringOracle()) { RunsInMemory = true },
        ["PAIR"] = Zmp(static request => new PairSide(request)),
        ["PUB"] = Zmp(static request => new PubSide(request)),
        ["SUB"] = Zmp(static request => new SubSide(request)),
        ["DEALER"] = Zmp(static request => new DealerSide(request)),
        ["ROUTER"] = Zmp(static request => new RouterSide(request)),
        ["XPUB"] = Zmp(static request => new XPubSide(request)),
        ["XSUB"] = Zmp(static request => new XSubSide(request)),
    };

    /// <summary>The same with the kernel between the two ends.</summary>
    public static readonly IReadOnlyDictionary<string, SideAdapter> OverTcp = Adapters.ToDictionary(
        static row => row.Key, static row => row.Value with { RunsInMemory = false, Severed = new(StringComparer.Ordinal) },
        StringComparer.Ordinal);

    private static SideAdapter Zmp(Func<SideRequest, ZmpSide> make) =>
        new(request => ZmpSide.Open(make(request)), new ZmpSeveringOracle(), SpeaksFirst: true) { RunsInMemory = true };
}
