using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Differential;

public sealed class WireConversationTests
{
    public static IEnumerable<TheoryDataRow<int>> Seeds() => Conversations.Seeds(100);

    public static IEnumerable<TheoryDataRow<int>> StreamSeeds() => Conversations.Seeds(50);

    [NativeTheory]
    [MemberData(nameof(Seeds))]
    public void Raw_peers_and_the_application_see_of_our_socket_what_they_see_of_the_native_one(int seed) =>
        AssertSame(ZmpConversation.Make(seed));

    [NativeTheory]
    [MemberData(nameof(StreamSeeds))]
    public void Raw_peers_and_the_application_see_of_our_STREAM_what_they_see_of_the_native_one(int seed) =>
        AssertSame(StreamConversation.Make(seed));

    private static void AssertSame(WireConversation conversation) => Conversations.AssertSame(conversation.ToString(), (kind, quiet) =>
    {
        using var run = new WireRun(conversation, kind, quiet);
        return run.Hold();
    });
}
