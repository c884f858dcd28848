using Xunit;

namespace Net.Zlink.Tests.Style;

/// <summary>Words that newcomers could not guess stay out of the code and the docs.</summary>
public sealed class RetiredWordsTests
{
    [Fact]
    public void Identifiers_of_src_have_no_retired_word() =>
        AssertNone(RepositoryFiles.Code("src").SelectMany(
            static file => RetiredWords.InNamesOf(file.Text).Select(found => $"{file.Path}: {found.Identifier} ({found.Word})")));

    [Fact]
    public void Pages_have_no_retired_phrase() =>
        AssertNone(RepositoryFiles.Pages().SelectMany(static file => file.Text.Split('\n')
            .SelectMany((line, at) => RetiredWords.InText(line).Select(word => $"{file.Path}({at + 1}): {word}"))));

    [Fact]
    public void Comments_of_src_have_no_retired_word() =>
        AssertNone(RepositoryFiles.Code("src").SelectMany(static file => file.Text.Split('\n')
            .SelectMany((line, at) => RetiredWords.InCommentOf(line).Select(word => $"{file.Path}({at + 1}): {word}"))));

    [Fact]
    public void Texts_of_src_have_no_retired_word() =>
        AssertNone(RepositoryFiles.Code("src").SelectMany(static file => file.Text.Split('\n')
            .SelectMany((line, at) => RetiredWords.InLiteralsOf(line).Select(word => $"{file.Path}({at + 1}): {word}"))));

    [Theory]
    [InlineData("class SendLine;", "send line")]
    [InlineData("int _sendLines, sendLine2;", "send line")]
    [InlineData("Run(TLSSendLine);", "send line")]
    [InlineData("Send(line);", null)]
    [InlineData("// the SendLine", null)]
    [InlineData("string text = \"SendLine\";", null)]
    [InlineData("Resend(Online);", null)]
    public void Retired_words_are_found_in_identifiers_and_nowhere_else(string code, string? expected) =>
        Assert.Equal(expected is null ? [] : [expected], RetiredWords.InNamesOf(code).Select(static found => found.Word),
            StringComparer.Ordinal);

    [Theory]
    [InlineData("A peer gives way, be it late.", "gives way, be it")]
    [InlineData("It may be iterated.", "")]
    public void Retired_phrases_are_found_in_text_as_whole_words(string text, string expected) =>
        Assert.Equal(expected, string.Join(", ", RetiredWords.InText(text)));

    [Theory]
    [InlineData("Run(); // No room, as natively.", "as natively, natively, room")]
    [InlineData("/// <summary>The news.</summary>", "news")]
    [InlineData("string room = \"tcp://room\";", "")]
    public void Retired_words_of_comments_are_found_in_comments_alone(string line, string expected) =>
        Assert.Equal(expected, string.Join(", ", RetiredWords.InCommentOf(line)));

    [Theory]
    [InlineData("throw new Fault(\"Nobody is there.\", nobody);", "nobody")]
    [InlineData("Log($\"{nobody} listens\", \"it goes on\");", "goes on")]
    [InlineData("string said = \"the \\\"nobody\\\"\";", "nobody")]
    [InlineData("// \"Nobody is there.\"", "")]
    public void Retired_words_of_texts_are_found_in_string_literals_alone(string line, string expected) =>
        Assert.Equal(expected, string.Join(", ", RetiredWords.InLiteralsOf(line)));

    private static void AssertNone(IEnumerable<string> faults)
    {
        string[] all = [.. faults];
        Assert.True(all.Length == 0, $"test/Net.Zlink.Tests/Style/retired-words.txt says what to write instead:\n{string.Join('\n', all)}");
    }
}
