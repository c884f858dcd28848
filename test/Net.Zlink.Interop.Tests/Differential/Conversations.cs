using System.Globalization;
using Net.Zlink.Interop.Tests.Peers;
using Xunit;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>Conversations that nobody thought of, made up from numbers, with the native core and with ours.</summary>
internal static class Conversations
{
    // Milliseconds in which nothing more happens: what differs then is looked at once more, and longer.
    private static readonly int[] s_patience = [20, 120];

    /// <summary>A row for each of so many conversations, or of those that ZLINK_CONVERSATIONS names, as in 100-199.</summary>
    public static IEnumerable<TheoryDataRow<int>> Seeds(int count)
    {
        string[] range = (Environment.GetEnvironmentVariable("ZLINK_CONVERSATIONS")
            ?? string.Create(CultureInfo.InvariantCulture, $"0-{count - 1}")).Split('-');
        int first = int.Parse(range[0], CultureInfo.InvariantCulture);
        int last = int.Parse(range[^1], CultureInfo.InvariantCulture);
        return Enumerable.Range(first, last - first + 1).Select(static seed => new TheoryDataRow<int>(seed));
    }

    /// <summary>Both implementations come to the same account of it.</summary>
    /// <param name="conversation">What happens, as text.</param>
    /// <param name="hold">Holds it: with whose sockets, and how long nothing comes before nothing more comes.</param>
    public static void AssertSame(string conversation, Func<PeerKind, TimeSpan, string> hold)
    {
        string native = "";
        string ours = "";
        foreach (int milliseconds in s_patience)
        {
            var quiet = TimeSpan.FromMilliseconds(milliseconds);
            native = hold(PeerKind.Native, quiet);
            ours = hold(PeerKind.Managed, quiet);
            if (string.Equals(native, ours, StringComparison.Ordinal))
            {
                TestContext.Current.TestOutputHelper?.WriteLine($"{conversation}\n--- both:\n{native}");
                return;
            }
        }

        Assert.Fail($"{conversation}\n--- native:\n{native}\n--- ours:\n{ours}");
    }
}
