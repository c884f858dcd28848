using System.Text.RegularExpressions;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Style;

/// <summary>The faults that .ci/faults puts into the sources, to see that tests find them: each still fits the sources and names tests that
/// there are.</summary>
public sealed partial class SeededFaultTests
{
    private static readonly string Folder = Path.Combine(Repository.Root, "test", "SeededFaults");

    public static TheoryData<string> Faults => [.. Directory.EnumerateFiles(Folder, "*.patch")
        .Select(static file => Path.GetFileNameWithoutExtension(file)).Order(StringComparer.Ordinal)];

    [Theory]
    [MemberData(nameof(Faults))]
    public void A_seeded_fault_fits_the_sources(string fault)
    {
        string source = "";
        int compared = 0;
        foreach (Match part in Part().Matches(Read(fault)))
        {
            if (part.Groups["file"].Success)
            {
                source = File.ReadAllText(Path.Combine(Repository.Root, part.Groups["file"].Value)).ReplaceLineEndings("\n");
                continue;
            }

            string before = string.Concat(part.Groups["line"].Captures.Select(static line => line.Value)
                .Where(static line => line[0] != '+').Select(static line => line[1..]));
            Assert.Contains(before, source, StringComparison.Ordinal);
            compared += before.Length;
        }

        Assert.NotEqual(0, compared);
    }

    [Theory]
    [MemberData(nameof(Faults))]
    public void A_seeded_fault_says_what_a_user_would_see_and_names_tests_that_there_are(string fault)
    {
        Match header = Header().Match(Read(fault));
        Assert.True(header.Success, "Fault, Project and Tests are missing in front of the patch");
        string folder = Path.Combine(Repository.Root, "test", header.Groups["project"].Value);
        foreach (string test in header.Groups["tests"].Value.Split(' '))
        {
            string name = test[(test.LastIndexOf('.') + 1)..];
            Assert.True(Directory.EnumerateFiles(folder, $"{name}.cs", SearchOption.AllDirectories).Any(), $"there is no {name}.cs");
        }
    }

    private static string Read(string fault) => File.ReadAllText(Path.Combine(Folder, $"{fault}.patch")).ReplaceLineEndings("\n");

    // The name of a file, or a hunk.
    [GeneratedRegex(@"^--- a/(?<file>.+)$|^@@.*\n(?<line>[ +-].*\n)+", RegexOptions.Multiline | RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex Part();

    [GeneratedRegex(@"\AFault: .+\.\n(Before: .+\n)?Project: (?<project>.+)\nTests: (?<tests>.+)\n", RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex Header();
}
