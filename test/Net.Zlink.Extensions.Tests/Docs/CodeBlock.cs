using System.Net;
using System.Text.RegularExpressions;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Extensions.Tests.Docs;

/// <summary>A block of code that a reader copies: of a page, an example of the XML docs, or a file of a template.</summary>
/// <param name="Page">Whose names it may use: the path of its page, "examples" for all of the XML docs, or a program's folder.</param>
/// <param name="File">The path below the repository's root.</param>
/// <param name="Line">Its first line there, from 1.</param>
/// <param name="Language">What Markdown calls its language.</param>
/// <param name="Code">The lines.</param>
internal sealed partial record CodeBlock(string Page, string File, int Line, string Language, string Code)
{
    public static CodeBlock[] OfPages() =>
        [.. Files("*.md").SelectMany(static file => Blocks(Fence(), file, file, static text => text))];

    /// <summary>Lines of C# that are only indented, so that Markdown knows no language of them.</summary>
    public static CodeBlock[] Unmarked() =>
        [.. Files("*.md").SelectMany(static file => Blocks(Statement(), file, file, static text => text))];

    public static CodeBlock[] OfExamples() =>
        [.. Files("*.cs", "src").SelectMany(static file => Blocks(Example(), file, "examples",
            static text => WebUtility.HtmlDecode(DocComment().Replace(text, ""))))];

    /// <summary>The files of programs that stand outside the solution, since they use the packages.</summary>
    public static CodeBlock[] OfPrograms() =>
        [.. Files("*.cs", "templates").Concat(Files("*.cs", "test/PackageConsumer")).Select(static file => new CodeBlock(
            ProgramOf(file), file, 1, "csharp", System.IO.File.ReadAllText(Path.Combine(Repository.Root, file))))];

    // A template's tests see the program that they test.
    private static string ProgramOf(string file) => Path.GetDirectoryName(file)!.Replace("/tests", "", StringComparison.Ordinal);

    private static IEnumerable<CodeBlock> Blocks(Regex blocks, string file, string page, Func<string, string> read)
    {
        string text = System.IO.File.ReadAllText(Path.Combine(Repository.Root, file));
        foreach (Match match in blocks.Matches(text).Where(static match => match.Groups["code"].Success))
        {
            Group code = match.Groups["code"];
            int line = text.AsSpan(0, code.Index).Count('\n') + 1;
            yield return new CodeBlock(page, file, line, match.Groups["language"].Value, read(code.Value));
        }
    }

    private static IEnumerable<string> Files(string pattern, string folder = "") =>
        Directory.EnumerateFiles(Path.Combine(Repository.Root, folder), pattern, SearchOption.AllDirectories)
            .Select(static path => Path.GetRelativePath(Repository.Root, path).Replace('\\', '/'))
            .Where(static path => !path.Split('/').Any(static part => part is "bin" or "obj" || part.StartsWith('.')));

    [GeneratedRegex(@"^ *```(?<language>\S*)[^\n]*\n(?<code>.*?)^ *```", RegexOptions.Singleline | RegexOptions.Multiline
        | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Fence();

    // A statement outside of blocks.
    [GeneratedRegex(@"^ *```.*?^ *```|^ {4,}(?<code>[^\n]*;)( *//[^\n]*)?$", RegexOptions.Singleline | RegexOptions.Multiline
        | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Statement();

    [GeneratedRegex("<example>.*?<code>(?<code>.*?)</code>", RegexOptions.Singleline | RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Example();

    [GeneratedRegex("^ */// ?", RegexOptions.Multiline, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex DocComment();
}
