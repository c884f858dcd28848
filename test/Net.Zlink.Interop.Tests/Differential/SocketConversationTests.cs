using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Differential;

public sealed class SocketConversationTests
{
    // Every fourth number is of one family of types. They take two seconds each: a step is over when no socket has anything more to tell.
    public static IEnumerable<TheoryDataRow<int>> Seeds() => Conversations.Seeds(30);

    [NativeTheory]
    [MemberData(nameof(Seeds))]
    public void Our_sockets_among_each_other_do_what_native_ones_do(int seed) =>
        SocketRun.AssertSame(SocketConversation.Make(seed, isInOneContext: true), static _ => PeerKind.Managed);

    [NativeTheory]
    [MemberData(nameof(Seeds))]
    public void Native_sockets_some_of_which_are_replaced_by_ours_go_on_as_before(int seed) =>
        SocketRun.AssertSame(SocketConversation.Make(seed, isInOneContext: false), i => (i + (seed / 4)) % 2 == 0 ? PeerKind.Managed
        : PeerKind.Native);
}
