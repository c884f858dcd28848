using System.Text.RegularExpressions;
using Net.Zlink.Tests.PublicApi;

namespace Net.Zlink.Tests.Style;

/// <summary>The list retired-words.txt, and where its words stand.</summary>
internal static partial class RetiredWords
{
    private const string Blank = " ";
    private const string Comments = "comments";
    private const string Texts = "texts";

    /// <summary>The words that no identifier may have.</summary>
    public static IReadOnlyList<string> OfNames { get; } = Read("names");

    /// <summary>The words that no page may have.</summary>
    public static IReadOnlyList<string> OfPages { get; } = Read("docs");

    /// <summary>The words that no comment may have: those of pages, and a few more.</summary>
    public static IReadOnlyList<string> OfComments { get; } = [.. OfPages, .. Read(Comments)];

    /// <summary>The words that no text of a program may have, such as an exception's message: those of pages, and more.</summary>
    public static IReadOnlyList<string> OfTexts { get; } = [.. OfPages, .. Read(Texts)];

    /// <summary>The identifiers of a C# file that have retired words, each with the word.</summary>
    public static IEnumerable<(string Identifier, string Word)> InNamesOf(string code) =>
        Identifier().Matches(SourceTree.CodeOf(code)).Select(static match => match.Value).Distinct(StringComparer.Ordinal)
            .SelectMany(static name => In(Parts().Replace(name, Blank), OfNames).Select(word => (name, word)));

    /// <summary>The retired words of a line of a page.</summary>
    public static IEnumerable<string> InText(string line) => In(line, OfPages);

    /// <summary>The retired words of the comment in a line of code.</summary>
    public static IEnumerable<string> InCommentOf(string line) => In(Comment().Match(line).Groups["text"].Value, OfComments);

    /// <summary>The retired words of the string literals in a line of code, without what is interpolated.</summary>
    public static IEnumerable<string> InLiteralsOf(string line) => line.TrimStart().StartsWith("//", StringComparison.Ordinal) ? []
        : Literal().Matches(line).SelectMany(static match => In(Hole().Replace(match.Groups["text"].Value, Blank), OfTexts));

    private static IEnumerable<string> In(string text, IReadOnlyList<string> words)
    {
        string plain = $" {NoLetters().Replace(text, Blank).Trim()} ";
        return words.Where(word => plain.Contains($" {word} ", StringComparison.OrdinalIgnoreCase));
    }

    // What stands before the colon of a remark: the places, with a comma between.
    private static string[] Read(string place) =>
    [
        .. File.ReadLines(Path.Combine(SourceTree.Root, "test", "Net.Zlink.Tests", "Style", "retired-words.txt"))
            .Where(static line => line.Length > 0 && line[0] != '#').Select(static line => line.Split('\t'))
            .Where(entry => IsFor(place, entry[1].Split(':')[0].Split(", ")))
            .Select(static entry => entry[0]),
    ];

    private static bool IsFor(string place, string[] places) => places.Contains(place, StringComparer.Ordinal)
        || (places.Contains("both", StringComparer.Ordinal) && place is not (Comments or Texts));

    [GeneratedRegex(@"\b[A-Za-z_]\w*", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Identifier();

    [GeneratedRegex(@"(?:^|\s)//+(?<text>.*)$", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Comment();

    [GeneratedRegex("""
        "(?<text>(?:[^"\\]|\\.)*)"
        """, RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Literal();

    [GeneratedRegex(@"\{[^{}]*\}?", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Hole();

    // Between the words of an identifier: sendLine, ZMPSession.
    [GeneratedRegex("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Parts();

    [GeneratedRegex("[^A-Za-z]+", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex NoLetters();
}
