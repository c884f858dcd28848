using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Differential;

public sealed class SocketConversationTests
{
    // They take two seconds each: a step is over when no socket has anything more to tell.
    public static IEnumerable<TheoryDataRow<int>> Seeds() => Conversations.Seeds(30);

    [NativeTheory]
    [MemberData(nameof(Seeds))]
    public void Our_sockets_among_each_other_do_what_native_ones_do(int seed)
    {
        var conversation = SocketConversation.Make(seed);
        Conversations.AssertSame(conversation.ToString(), (kind, quiet) =>
        {
            using var run = new SocketRun(conversation, kind, quiet);
            return run.Hold();
        });
    }
}
