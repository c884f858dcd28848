using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Report;

/// <summary>A summary and where it came from.</summary>
/// <param name="Name">The folder or file, as short as it is still told apart by people.</param>
/// <param name="Summary">What was in it.</param>
internal sealed record ReportInput(string Name, Summary Summary)
{
    /// <summary>Reads files, and the summaries in folders and all below them, oldest first.</summary>
    /// <exception cref="RequestException">There is nothing there, or it is no summary.</exception>
    public static IReadOnlyList<ReportInput> Read(IEnumerable<string> paths)
    {
        var inputs = new List<ReportInput>();
        foreach (string path in paths)
        {
            string[] files = Directory.Exists(path)
                ? [.. Directory.EnumerateFiles(path, SummaryFile.Name, SearchOption.AllDirectories).Order(StringComparer.Ordinal)]
                : [path];
            if (files.Length == 0)
            {
                throw new RequestException($"There is no {SummaryFile.Name} in {path}.");
            }

            inputs.AddRange(files.Select(static file => new ReportInput(NameOf(file), SummaryFile.Read(file))));
        }

        return [.. inputs.OrderBy(static input => input.Summary.Started)];
    }

    private static string NameOf(string file) => string.Equals(Path.GetFileName(file), SummaryFile.Name, StringComparison.Ordinal)
        ? Path.GetFileName(Path.GetDirectoryName(Path.GetFullPath(file))) ?? file
        : Path.GetFileNameWithoutExtension(file);
}
