using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>Makes our sockets by the native numbers of their types.</summary>
internal static class ManagedSockets
{
    public static ZlinkSocket Create(ZlinkContext context, NativeSocketType type) => type switch
    {
        NativeSocketType.Pair => context.CreatePair(new PairOptions { ReplaceSilentPeer = false }), // As natively: nobody is asked, and nobody replaced.
        NativeSocketType.Pub => context.CreatePub(),
        NativeSocketType.Sub => context.CreateSub(),
        NativeSocketType.Dealer => context.CreateDealer(),
        NativeSocketType.Router => context.CreateRouter(new RouterOptions { OnDuplicateRoutingId = DuplicateRoutingId.Refuse }),
        NativeSocketType.XPub => context.CreateXPub(),
        NativeSocketType.XSub => context.CreateXSub(),
        _ => throw new ArgumentOutOfRangeException(nameof(type), type, "no ZMP socket"),
    };
}
