using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Matrix;

/// <summary>Rows for scenarios with two roles: ours in one and the native core in the other, then the other way round.</summary>
internal static class PeerSides
{
    /// <summary>Who plays which role.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind,
        PeerKind>> Both() => Pairs().Select(static pair => new TheoryDataRow<PeerKind, PeerKind>(pair.First, pair.Second));

    /// <summary>The same, over each transport.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind, PeerKind,
        TestTransport>> BothOverEachTransport() => BothOver(TestTransports.BetweenImplementations);

    /// <summary>The same, over those with a handshake of their own too.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind, PeerKind, TestTransport>> BothOverEveryTransport() => BothOver(TestTransports.All);

    /// <summary>The same, but for a native first one, which has only tcp and ipc.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind, PeerKind, TestTransport>> BothOverEveryTransportOfOurs() =>
        BothOver(TestTransports.All).Where(static row => row.Data.Item1 is PeerKind.Managed
            || TestTransports.BetweenImplementations.Contains(row.Data.Item3));

    /// <summary>The same, over those that a relay carries.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind, PeerKind,
        TestTransport>> BothOverEveryRelayedTransport() => BothOver(TestTransports.Relayed);

    /// <summary>For cuts in the middle of a load: the same and ours with ours, but for a native first one, which has only tcp and
    /// tls.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind, PeerKind, TestTransport>> BothCutUnderLoad() =>
        BothOver(TestTransports.Relayed).Where(static row => row.Data is not (PeerKind.Native, _, TestTransport.Ws or TestTransport.Wss))
            .Concat(TestTransports.Relayed.Select(static transport => new TheoryDataRow<PeerKind, PeerKind,
                TestTransport>(PeerKind.Managed, PeerKind.Managed, transport)));

    /// <summary>The same, over the lowest and the highest pile of layers.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind, PeerKind,
        TestTransport>> BothOverTcpAndWss() => BothOver([TestTransport.Tcp, TestTransport.Wss]);

    /// <summary>For scenarios with a raw peer: ours, and the native core.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind>> Each() =>
        PeerKinds.Ours.Append(PeerKind.Native).Distinct().Select(static kind => new TheoryDataRow<PeerKind>(kind));

    /// <summary>For what the native core does otherwise: ours in the role in question, against ours, and against a native peer where there
    /// is a native library.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind>> OfOurs() =>
        Others().Select(static kind => new TheoryDataRow<PeerKind>(kind) { Skip = WhySkip(kind) });

    /// <summary>The same, over each transport that both have.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind, TestTransport>> OfOursOverEachTransport() => Others().SelectMany(
        static _ => TestTransports.BetweenImplementations, static (kind, transport) => new TheoryDataRow<PeerKind,
            TestTransport>(kind, transport)
        { Skip = WhySkip(kind) });

    /// <summary>The same, with messages of that size and number.</summary>
    public static IEnumerable<TheoryDataRow<PeerKind, TestTransport, int,
        int>> OfOursOverEachTransport(int size, int count) => Others().SelectMany(
        static _ => TestTransports.BetweenImplementations,
        (kind, transport) => new TheoryDataRow<PeerKind, TestTransport, int, int>(kind, transport, size, count) { Skip = WhySkip(kind) });

    public static IEnumerable<(PeerKind First, PeerKind Second)> Pairs() =>
        PeerKinds.Ours.SelectMany(static kind => new[] { (kind, PeerKind.Native), (PeerKind.Native, kind) }).Distinct();

    // Native with native proves a scenario over tcp and ipc; over the others it only showed faults of its own (a connection over ws that
    // was never ready).
    private static IEnumerable<TheoryDataRow<PeerKind, PeerKind, TestTransport>> BothOver(IReadOnlyList<TestTransport> transports) =>
        from pair in Pairs()
        from transport in transports
        where pair is not (PeerKind.Native, PeerKind.Native) || !TestTransports.Layered.Contains(transport)
        select new TheoryDataRow<PeerKind, PeerKind, TestTransport>(pair.First, pair.Second, transport);

    private static PeerKind[] Others() => [PeerKind.Managed, PeerKind.Native];

    private static string? WhySkip(PeerKind kind) => kind is PeerKind.Native && !NativeLibraryFile.IsGiven ? NativeLibraryFile.HowToTurnOn
        : null;
}
