using System.Text.RegularExpressions;
using Xunit;

namespace Net.Zlink.Extensions.Tests.Docs;

/// <summary>What a reader copies from README, the docs, the packages' pages, IntelliSense and templates compiles.</summary>
public sealed partial class CodeBlockTests
{
    private static CodeBlock[] Ours => [.. OfPages("csharp"), .. CodeBlock.OfExamples(), .. CodeBlock.OfPrograms()];

    [Fact]
    public async Task Code_of_pages_XML_docs_and_templates_compiles()
    {
        CodeBlock[] blocks = Ours;
        Assert.True(blocks.Length >= 80, $"{blocks.Length} blocks were found");
        string[] faults = await BlockCompiler.CompileAsync(blocks, Ambient.OfPages);
        Assert.True(faults.Length == 0, $"{faults.Length} faults:\n{string.Join('\n', faults)}");
    }

    [Fact]
    public async Task A_block_that_does_not_compile_is_named_with_its_page_its_line_and_the_error()
    {
        CodeBlock[] blocks =
        [
            Block("docs/a.md", 10, "sealed class Room;\n\nint count = 1;\ncount.Frobnicate();"),
            Block("docs/a.md", 20, "public int Members() => Unknown;"),
            Block("docs/b.md", 30, "using Net.Zlink;\nawait using var context = new ZlinkContext();\n_ = new ServiceReceiver(context);"),
        ];
        string[] faults = await BlockCompiler.CompileAsync(blocks, new Dictionary<string, Ambient>(StringComparer.Ordinal));
        Assert.Collection(faults.Order(StringComparer.Ordinal),
            static fault => Assert.StartsWith("docs/a.md(10): statements of a program", fault, StringComparison.Ordinal),
            static fault => Assert.StartsWith("docs/a.md(13): CS1061: 'int' does not", fault, StringComparison.Ordinal),
            static fault => Assert.StartsWith("docs/a.md(20): CS0103: The name 'Unknown'", fault, StringComparison.Ordinal),
            static fault => Assert.StartsWith("docs/b.md(32): CS0246: ", fault, StringComparison.Ordinal));
    }

    [Fact]
    public void Code_that_is_not_compiled_is_of_another_library_or_another_language()
    {
        // The guide shows code of the native binding beside ours.
        Assert.Equal([("docs/PortingGuide.md", 3)],
            OfPages("cs").CountBy(static block => block.Page, StringComparer.Ordinal).Select(static page => (page.Key, page.Value)));
        Assert.Empty(CodeBlock.Unmarked().Select(static block => $"{block.File}({block.Line}): {block.Code}"));
        Assert.Equal("c cs csharp html js json mermaid", string.Join(' ',
            CodeBlock.OfPages().Select(static block => block.Language).Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal)));
    }

    [Fact]
    public void A_name_that_a_page_is_said_to_have_is_used_there()
    {
        ILookup<string, string> used = Ours
            .SelectMany(static block => Word().Matches(block.Code).Select(word => (block.Page, word.Value)))
            .ToLookup(static word => word.Page, static word => word.Value, StringComparer.Ordinal);
        Assert.Empty(Ambient.OfPages.SelectMany(page => Declared().Matches(page.Value.Names)
            .Select(static name => name.Groups["name"].Value)
            .Except(used[page.Key], StringComparer.Ordinal).Select(name => $"{page.Key}: {name}")));
    }

    private static IEnumerable<CodeBlock> OfPages(string language) =>
        CodeBlock.OfPages().Where(block => string.Equals(block.Language, language, StringComparison.Ordinal));

    private static CodeBlock Block(string page, int line, string code) => new(page, page, line, "csharp", code);

    [GeneratedRegex(@"\w+", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Word();

    [GeneratedRegex(@"(?<name>\w+);", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Declared();
}
