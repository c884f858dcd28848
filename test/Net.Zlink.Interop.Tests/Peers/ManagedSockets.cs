using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>Makes our sockets by the native numbers of their types.</summary>
internal static class ManagedSockets
{
    public static ZmpSocket Create(ZlinkContext context, NativeSocketType type) => type switch
    {
        // As in the native core: no holder is asked, and none is replaced.
        NativeSocketType.Pair => context.CreatePair(new PairOptions { ReplaceSilentPeer = false, ReconnectAfterFault = false }),
        NativeSocketType.Pub => context.CreatePub(new PubOptions { ReconnectAfterFault = false }),
        NativeSocketType.Sub => context.CreateSub(new SubOptions { ReconnectAfterFault = false }),
        NativeSocketType.Dealer => context.CreateDealer(new DealerOptions { ReconnectAfterFault = false }),
        NativeSocketType.Router => context.CreateRouter(
            new RouterOptions { OnDuplicateRoutingId = DuplicateRoutingId.Refuse, ReconnectAfterFault = false }),
        NativeSocketType.XPub => context.CreateXPub(new XPubOptions { ReconnectAfterFault = false }),
        NativeSocketType.XSub => context.CreateXSub(new XSubOptions { ReconnectAfterFault = false }),
        _ => throw new ArgumentOutOfRangeException(nameof(type), type, "no ZMP socket"),
    };
}
