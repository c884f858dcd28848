using Net.Zlink.Tests.PublicApi;

namespace Net.Zlink.Tests.Style;

/// <summary>The files of the repository that people read, by their paths below its root.</summary>
internal static class RepositoryFiles
{
    private static readonly string[] s_builtFolders = ["bin", "obj"];

    /// <summary>The C# files of some of the repository's folders.</summary>
    public static IEnumerable<(string Path, string Text)> Code(params string[] folders) =>
        folders.Select(static folder => Path.Combine(SourceTree.Root, folder)).Where(Directory.Exists)
            .SelectMany(static folder => Directory.EnumerateFiles(folder, "*.cs", SearchOption.AllDirectories))
            .Select(ReadFile).Where(IsNotBuilt);

    /// <summary>The pages that a user of the library reads.</summary>
    public static IEnumerable<(string Path, string Text)> Pages() =>
        Directory.EnumerateFiles(SourceTree.Root, "*.md").Concat(Directory.EnumerateFiles(Path.Combine(SourceTree.Root, "docs"), "*.md"))
            .Select(ReadFile);

    /// <summary>Every page of the repository, with those of samples, packages and tests.</summary>
    public static IEnumerable<(string Path, string Text)> AllPages() =>
        Pages().Concat(new[] { "docs/benchmarks", "samples", "src", "templates", "test" }
            .Select(static folder => Path.Combine(SourceTree.Root, folder))
            .SelectMany(static folder => Directory.EnumerateFiles(folder, "*.md", SearchOption.AllDirectories))
            .Select(ReadFile).Where(IsNotBuilt));

    private static bool IsNotBuilt((string Path, string Text) file) =>
        !file.Path.Split('/').Intersect(s_builtFolders, StringComparer.Ordinal).Any();

    private static (string Path, string Text) ReadFile(string path) =>
        (Path.GetRelativePath(SourceTree.Root, path).Replace('\\', '/'), File.ReadAllText(path));
}
