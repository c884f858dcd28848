using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>Whose socket it is.</summary>
public enum PeerKind
{
    /// <summary>The native core's. Two of these prove a scenario before it judges anybody.</summary>
    Native,

    /// <summary>Ours.</summary>
    Managed,
}

/// <summary>Makes sockets of either kind.</summary>
internal static class PeerKinds
{
    /// <summary>What stands against the native core in every scenario.</summary>
    public static IReadOnlyList<PeerKind> Ours { get; } = [PeerKind.Native, PeerKind.Managed];

    public static IPeerSocket Create(this PeerKind kind, NativeSocketType type) => kind switch
    {
        PeerKind.Native => new NativePeer(type),
        PeerKind.Managed => type is NativeSocketType.Stream ? new ManagedStreamPeer() : new ManagedPeer(type),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "no such implementation"),
    };
}
