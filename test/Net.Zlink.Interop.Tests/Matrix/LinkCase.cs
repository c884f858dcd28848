using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Matrix;

/// <summary>One row of the matrix: whose sockets, of what types, who binds, over what.</summary>
internal sealed record LinkCase(PeerKind Ours, NativeSocketType OurType, NativeSocketType TheirType, bool WeBind, TestTransport Transport)
{
    // What the handshake lets talk to each other; each pair in both orders, ours first.
    private static readonly (NativeSocketType Ours, NativeSocketType Theirs)[] Pairs =
    [
        (NativeSocketType.Pair, NativeSocketType.Pair),
        (NativeSocketType.Dealer, NativeSocketType.Dealer),
        (NativeSocketType.Dealer, NativeSocketType.Router),
        (NativeSocketType.Router, NativeSocketType.Dealer),
        (NativeSocketType.Router, NativeSocketType.Router),
        (NativeSocketType.Pub, NativeSocketType.Sub),
        (NativeSocketType.Sub, NativeSocketType.Pub),
        (NativeSocketType.XPub, NativeSocketType.XSub),
        (NativeSocketType.XSub, NativeSocketType.XPub),
        (NativeSocketType.Pub, NativeSocketType.XSub),
        (NativeSocketType.XSub, NativeSocketType.Pub),
        (NativeSocketType.XPub, NativeSocketType.Sub),
        (NativeSocketType.Sub, NativeSocketType.XPub),
    ];

    /// <summary>Every row: implementation of ours, both types, who binds, transport.</summary>
    public static TheoryData<PeerKind, NativeSocketType, NativeSocketType, bool, TestTransport> Rows()
    {
        var rows = new TheoryData<PeerKind, NativeSocketType, NativeSocketType, bool, TestTransport>();
        foreach ((NativeSocketType ours, NativeSocketType theirs) in Pairs)
        {
            foreach (TestTransport transport in TestTransports.Layered)
            {
                // Native with native is proved below, over what these are layered on.
                rows.Add(PeerKind.Managed, ours, theirs, true, transport);
                rows.Add(PeerKind.Managed, ours, theirs, false, transport);
            }
        }

        foreach (PeerKind kind in PeerKinds.Ours)
        {
            foreach ((NativeSocketType ours, NativeSocketType theirs) in Pairs)
            {
                foreach (TestTransport transport in TestTransports.BetweenImplementations)
                {
                    rows.Add(kind, ours, theirs, true, transport);
                    rows.Add(kind, ours, theirs, false, transport);
                }
            }
        }

        return rows;
    }

    /// <summary>Rows of ours with ours, which need no native library: both types, who binds, transport. Each pair of types once, since both
    /// ends are alike.</summary>
    public static TheoryData<NativeSocketType, NativeSocketType, bool, TestTransport> OwnRows()
    {
        var rows = new TheoryData<NativeSocketType, NativeSocketType, bool, TestTransport>();
        foreach ((NativeSocketType one, NativeSocketType other) in Pairs.Where(static pair => pair.Ours <= pair.Theirs))
        {
            foreach (TestTransport transport in Enum.GetValues<TestTransport>())
            {
                rows.Add(one, other, true, transport);
                if (one != other) // Of two that are alike it makes no difference who binds.
                {
                    rows.Add(one, other, false, transport);
                }
            }
        }

        // All rows take 130 s. Eleven has no divisor in common with the six transports, so each of them comes with both roles.
        return [.. SlowTests.Some(rows, every: 11)];
    }
}
