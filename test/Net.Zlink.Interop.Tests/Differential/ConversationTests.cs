using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Conversations that nobody thought of: what raw peers and the application see of our socket is what they see of the native core's.</summary>
public sealed class ConversationTests
{
    public static IEnumerable<TheoryDataRow<int>> Seeds()
    {
        string[] range = (Environment.GetEnvironmentVariable("ZLINK_CONVERSATIONS") ?? "0-99").Split('-');
        int first = int.Parse(range[0], System.Globalization.CultureInfo.InvariantCulture);
        int last = int.Parse(range[1], System.Globalization.CultureInfo.InvariantCulture);
        return Enumerable.Range(first, last - first + 1).Select(static seed => new TheoryDataRow<int>(seed));
    }

    [NativeTheory]
    [MemberData(nameof(Seeds))]
    public void A_conversation_goes_as_with_the_native_core(int seed)
    {
        var conversation = WireConversation.Make(seed);
        string native = "";
        string ours = "";
        foreach (int milliseconds in new[] { 20, 60, 200 })
        {
            var quiet = TimeSpan.FromMilliseconds(milliseconds);
            native = Hold(conversation, PeerKind.Native, quiet);
            ours = Hold(conversation, PeerKind.Managed, quiet);
            if (string.Equals(native, ours, StringComparison.Ordinal))
            {
                TestContext.Current.TestOutputHelper?.WriteLine($"{conversation}\n--- both:\n{native}");
                return;
            }
        }

        Assert.Fail($"{conversation}\n--- native:\n{native}\n--- ours:\n{ours}");
    }

    private static string Hold(WireConversation conversation, PeerKind kind, TimeSpan quiet)
    {
        using var run = new ConversationRun(conversation, kind, quiet);
        return run.Hold();
    }
}
