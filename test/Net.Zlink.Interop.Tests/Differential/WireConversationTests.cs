using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Differential;

public sealed class WireConversationTests
{
    public static IEnumerable<TheoryDataRow<int>> Seeds() => Conversations.Seeds(100);

    [NativeTheory]
    [MemberData(nameof(Seeds))]
    public void Raw_peers_and_the_application_see_of_our_socket_what_they_see_of_the_native_one(int seed)
    {
        var conversation = WireConversation.Make(seed);
        Conversations.AssertSame(conversation.ToString(), (kind, quiet) =>
        {
            using var run = new WireRun(conversation, kind, quiet);
            return run.Hold();
        });
    }
}
