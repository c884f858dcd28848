using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Differential;

public sealed class SocketMeshTests
{
    // They take a second or two each.
    public static IEnumerable<TheoryDataRow<int>> Seeds() => Conversations.Seeds(6);

    [NativeTheory]
    [MemberData(nameof(Seeds))]
    public void Many_of_our_sockets_over_several_transports_at_once_do_what_native_ones_do(int seed) =>
        SocketRun.AssertSame(SocketMesh.Make(seed, isInOneContext: true), static _ => PeerKind.Managed);

    [NativeTheory]
    [MemberData(nameof(Seeds))]
    public void Many_native_sockets_some_of_which_are_replaced_by_ours_go_on_as_before(int seed) =>
        SocketRun.AssertSame(SocketMesh.Make(seed, isInOneContext: false), i => (i + seed) % 2 == 0 ? PeerKind.Managed : PeerKind.Native);
}
