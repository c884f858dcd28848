using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Report;
using Net.Zlink.Scenarios.Results;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Report;

public sealed class ReportInputTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("zlink-report-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void All_summaries_below_a_folder_are_found_oldest_first_and_named_after_their_folder()
    {
        Save("later", Summaries.Scenario() with { Started = DateTimeOffset.UnixEpoch.AddDays(2) });
        Save(Path.Combine("deep", "earlier"), Summaries.Soak());
        IReadOnlyList<ReportInput> inputs = ReportInput.Read([_folder.FullName]);
        Assert.Collection(inputs, static first => Assert.Equal("earlier", first.Name), static second => Assert.Equal("later", second.Name));
        Assert.Equal(60, inputs[0].Summary.Soak!.Samples.Count);
        Assert.Equal(ReportPage.Write(inputs, DateTimeOffset.UnixEpoch),
            ReportPage.Write(ReportInput.Read([Path.Combine(_folder.FullName, "later"), Path.Combine(_folder.FullName, "deep")]),
            DateTimeOffset.UnixEpoch));
    }

    [Fact]
    public void A_folder_without_a_summary_and_a_file_that_is_none_are_refused_in_a_sentence()
    {
        Assert.Contains("There is no summary.json", Assert.Throws<RequestException>(() => ReportInput.Read([_folder.FullName])).Message,
            StringComparison.Ordinal);
        string file = Path.Combine(_folder.FullName, "broken.json");
        File.WriteAllText(file, "{ \"kind\": ");
        Assert.Contains("not a summary", Assert.Throws<RequestException>(() => ReportInput.Read([file])).Message, StringComparison.Ordinal);
    }

    private void Save(string name, Summary summary)
    {
        DirectoryInfo folder = _folder.CreateSubdirectory(name);
        SummaryFile.Write(Path.Combine(folder.FullName, SummaryFile.Name), summary);
    }
}
