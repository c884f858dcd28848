using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>Where a run's files go: metrics.csv, line by line as rounds end, and summary.json.</summary>
internal sealed class OutputFolder
{
    public const string CsvName = "metrics.csv";

    private readonly string _path;

    public OutputFolder(string? path, string name)
    {
        _path = path ?? Path.Combine("artifacts", "scenarios",
            string.Create(CultureInfo.InvariantCulture, $"{name}-{TimeProvider.System.GetUtcNow():yyyyMMdd-HHmmss}"));
        OutputCheck.File(new FileInfo(Csv));
        OutputCheck.File(new FileInfo(Summary));
        File.WriteAllText(Csv, ResultRow.CsvHeader + "\n");
    }

    public string Summary => Path.Combine(_path, SummaryFile.Name);

    private string Csv => Path.Combine(_path, CsvName);

    public void Add(Round round) => File.AppendAllText(Csv, round.Row.ToCsvLine() + "\n");

    public void Write(Summary summary) => SummaryFile.Write(Summary, summary);

    public override string ToString() => _path;
}
