using System.Text;
using Xunit;

namespace Net.Zlink.Tests.PublicApi;

public sealed class PublicApiTests
{
    private const string Approved = "Net.Zlink.txt";
    private const string Received = "Net.Zlink.received.txt";

    [Fact]
    public void The_public_api_is_the_one_in_the_checked_in_file()
    {
        string folder = Path.Combine(SourceTree.Root, "test", "Net.Zlink.Tests", "PublicApi");
        string actual = PublicApiText.Of(typeof(ZlinkContext).Assembly);
        string approved = File.Exists(Path.Combine(folder, Approved)) ? File.ReadAllText(Path.Combine(folder, Approved)).ReplaceLineEndings("\n") : "";
        string received = Path.Combine(folder, Received);
        if (string.Equals(actual, approved, StringComparison.Ordinal))
        {
            File.Delete(received);
            return;
        }

        File.WriteAllText(received, actual);
        Assert.Fail($"""
            The public API differs from {Approved} (- was, + is):

            {Difference(approved, actual)}
            If this is meant, accept it:

                mv test/Net.Zlink.Tests/PublicApi/{Received} test/Net.Zlink.Tests/PublicApi/{Approved}

            and say so in CHANGELOG.md.
            """);
    }

    [Fact]
    public void A_difference_names_the_type_and_shows_only_what_changed()
    {
        const string Was = "public class A\n    public void M()\n    public void N()\n\npublic class B\n    public void O()\n\n";
        const string Is = "public class A\n    public void M(int x)\n    public void N()\n\npublic class B\n    public void O()\n\npublic class C\n\n";
        Assert.Equal("  public class A\n-     public void M()\n+     public void M(int x)\n+ public class C\n", Difference(Was, Is));
    }

    /// <summary>Both texts are sorted blocks, so comparing them block by block, as sets of lines, finds the smallest difference.</summary>
    private static string Difference(string was, string now)
    {
        Dictionary<string, string[]> before = Blocks(was);
        Dictionary<string, string[]> after = Blocks(now);
        var text = new StringBuilder();
        foreach (string type in before.Keys.Union(after.Keys, StringComparer.Ordinal).Order(StringComparer.Ordinal))
        {
            string[] old = before.GetValueOrDefault(type, []);
            string[] current = after.GetValueOrDefault(type, []);
            if (old.SequenceEqual(current, StringComparer.Ordinal) && before.ContainsKey(type) == after.ContainsKey(type))
            {
                continue;
            }

            text.Append(!before.ContainsKey(type) ? "+ " : !after.ContainsKey(type) ? "- " : "  ").Append(type).Append('\n');
            foreach (string line in old.Union(current, StringComparer.Ordinal).Order(StringComparer.Ordinal))
            {
                bool isOld = old.Contains(line, StringComparer.Ordinal);
                if (isOld != current.Contains(line, StringComparer.Ordinal))
                {
                    text.Append(isOld ? "- " : "+ ").Append(line).Append('\n');
                }
            }
        }

        return text.ToString();
    }

    private static Dictionary<string, string[]> Blocks(string text) =>
        text.Split("\n\n", StringSplitOptions.RemoveEmptyEntries)
            .Select(static block => block.Split('\n', StringSplitOptions.RemoveEmptyEntries))
            .ToDictionary(static lines => lines[0], static lines => lines[1..], StringComparer.Ordinal);
}
