using System.Text.RegularExpressions;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>The folders know each other in one direction only: Protocol, Model and Common nobody, then Registry, Discovery, Registration,
/// LoadBalancing and Tracing, then Gateway, RequestHandling and Spot, then the root, then Typed.</summary>
public sealed partial class LayerTests
{
    private const int MatchTimeout = 10_000;

    private static readonly Dictionary<string, int> Layers = new(StringComparer.Ordinal)
    {
        ["Protocol"] = 0,
        ["Model"] = 0,
        ["Common"] = 0,
        ["Registry"] = 1,
        ["Discovery"] = 1,
        ["Registration"] = 1,
        ["LoadBalancing"] = 1,
        ["Tracing"] = 1,
        ["Gateway"] = 2,
        ["RequestHandling"] = 2,
        ["Spot"] = 2,
        ["Options"] = 3,
        [""] = 3,
        ["Typed"] = 4,
    };

    [Fact]
    public void A_folder_names_only_types_of_lower_layers()
    {
        string root = Path.Combine(Repository.Root, "src", "Net.Zlink.Services");
        (string Path, string Folder, string Text)[] files =
        [
            .. from path in Directory.EnumerateFiles(root, "*.cs", SearchOption.AllDirectories)
               let relative = Path.GetRelativePath(root, path)
               let folder = Path.GetDirectoryName(relative)!
               where !folder.StartsWith("obj", StringComparison.Ordinal) && !folder.StartsWith("bin", StringComparison.Ordinal)
               select (relative, folder, Comments().Replace(File.ReadAllText(path), "")),
        ];
        Assert.All(files, file => Assert.True(Layers.ContainsKey(file.Folder), $"{file.Path}: a folder without a layer"));
        ILookup<string, string> types = files.SelectMany(
            static file => Declarations().Matches(file.Text).Select(match => (Name: match.Groups["name"].Value, file.Folder)))
            .ToLookup(static type => type.Name, static type => type.Folder, StringComparer.Ordinal);
        // A word that is also the name of a member somewhere may be that: it says nothing.
        HashSet<string> members = [.. files.SelectMany(
            static file => Members().Matches(file.Text).Select(static match => match.Groups["name"].Value))];
        string[] wrong =
        [
            .. from file in files
               where file.Folder is not ("" or "Options")
               from word in Words().Matches(file.Text).Select(static match => match.Value).Distinct(StringComparer.Ordinal)
               where types.Contains(word) && !members.Contains(word)
                   && !types[word].Any(folder => string.Equals(folder, file.Folder, StringComparison.Ordinal)
                   || string.Equals(folder, "Options", StringComparison.Ordinal) || Layers[folder] < Layers[file.Folder])
               select $"{file.Path} names {word} of "
                   + $"{string.Join(", ", types[word].Select(static folder => folder.Length == 0 ? "the root" : folder))}",
        ];
        Assert.True(wrong.Length == 0, string.Join('\n', wrong));
    }

    [GeneratedRegex(@"//[^\n]*|""[^""\n]*""", RegexOptions.None, MatchTimeout)]
    private static partial Regex Comments();

    [GeneratedRegex(@"^(?:\w+ )*(?:class|struct|record|interface|enum)\s+(?:struct\s+|class\s+)?(?<name>[A-Z]\w+)", RegexOptions.Multiline | RegexOptions.ExplicitCapture, MatchTimeout)]
    private static partial Regex Declarations();

    [GeneratedRegex(@"(?<![\w.])(?!(?:class|struct|record|enum|interface|new|is|as|in|out|ref|return)\b)\w[\w<>?\[\].]*\s+(?<name>[A-Z]\w+)\s*(?:\{|;|=|,|\)|\()", RegexOptions.ExplicitCapture, MatchTimeout)]
    private static partial Regex Members();

    [GeneratedRegex(@"(?<![.\w])[A-Z]\w+\b(?! = \d)", RegexOptions.None, MatchTimeout)]
    private static partial Regex Words();
}
