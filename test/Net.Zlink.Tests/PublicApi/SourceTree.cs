using System.Text.RegularExpressions;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Tests.PublicApi;

/// <summary>The library's source files, found from where the tests run.</summary>
internal static partial class SourceTree
{
    public static string Root => Repository.Root;

    public static string Library => Path.Combine(Root, "src", "Net.Zlink");

    /// <summary>Every source file of the library.</summary>
    public static IReadOnlyList<(string Path, string Text)> Files { get; } = FilesOf("Net.Zlink");

    /// <summary>Every source file of a project: its path below it, with forward slashes, and its text.</summary>
    public static IReadOnlyList<(string Path, string Text)> FilesOf(string project)
    {
        string root = Path.Combine(Root, "src", project);
        return
        [
            .. Directory.EnumerateFiles(root, "*.cs", SearchOption.AllDirectories)
                .Select(path => (Path: Path.GetRelativePath(root, path).Replace('\\', '/'), Full: path))
                .Where(static file => !file.Path.StartsWith("bin/", StringComparison.Ordinal)
                    && !file.Path.StartsWith("obj/", StringComparison.Ordinal))
                .OrderBy(static file => file.Path, StringComparer.Ordinal)
                .Select(static file => (file.Path, File.ReadAllText(file.Full))),
        ];
    }

    /// <summary>The code of a file: without comments and the content of strings.</summary>
    public static string CodeOf(string text) => NoCode().Replace(text, static match => match.Value[0] == '/' ? " " : "\"\"");

    [GeneratedRegex("""//[^\n]*|/\*.*?\*/|@"(?:[^"]|"")*"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])'""", RegexOptions.Singleline, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex NoCode();
}
