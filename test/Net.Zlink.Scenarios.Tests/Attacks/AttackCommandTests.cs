using System.CommandLine;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Attacks;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Attacks;

public sealed class AttackCommandTests
{
    [Theory]
    [InlineData("--minutes", "-1")]
    [InlineData("--minutes", "NaN")]
    [InlineData("--minutes", "soon")]
    [InlineData("--round-seconds", "0")]
    [InlineData("--row", "no-such-row")]
    [InlineData("--row", "ood")]
    [InlineData("--rows", "good")]
    public async Task A_request_that_makes_no_sense_is_not_run(string option, string value)
    {
        var row = new FakeRow("good", Figure(1));
        Assert.Equal(CommandLineProgram.WrongRequest, await RunAsync([row], option, value));
        Assert.Equal(0, row.Rounds);
    }

    [Theory]
    [InlineData("good", 1, 0)]
    [InlineData("go*", 1, 0)]
    [InlineData("*", 1, 1)]
    public async Task Rows_are_chosen_by_name_or_by_its_beginning(string name, int good, int other)
    {
        FakeRow[] rows = [new("good", Figure(1)), new("other", Figure(1))];
        Assert.Equal(0, await RunAsync(rows, "--row", name));
        Assert.Equal((good, other), (rows[0].Rounds, rows[1].Rounds));
    }

    [Fact]
    public async Task A_row_gets_the_time_of_a_round()
    {
        var row = new FakeRow("good", Figure(1));
        await RunAsync([row], "--round-seconds", "7");
        Assert.Equal(TimeSpan.FromSeconds(7), row.Time);
    }

    [Theory]
    [InlineData(10, false, 0)]
    [InlineData(10.1, false, 1)]
    [InlineData(10, true, 0)]
    [InlineData(9.9, true, 1)]
    [InlineData(double.NaN, false, 1)]
    [InlineData(double.NaN, true, 1)]
    public async Task The_exit_code_says_whether_each_figure_kept_its_limit(double value, bool atLeast, int code)
    {
        FakeRow[] rows = [new("measured", new AttackFigure("figure", value, 10, atLeast)), new("good", Figure(1))];
        Assert.Equal(code, await RunAsync(rows));
    }

    [Fact]
    public async Task A_figure_without_a_limit_fails_nothing() =>
        Assert.Equal(0, await RunAsync([new FakeRow("known", new AttackFigure("figure", double.NaN, Limit: null))]));

    [Theory]
    [InlineData(11, 1, false, 11)]
    [InlineData(1, 11, false, 11)]
    [InlineData(11, 1, true, 1)]
    [InlineData(1, 11, true, 1)]
    [InlineData(double.NaN, 1, false, double.NaN)]
    [InlineData(1, double.NaN, true, double.NaN)]
    public void Of_two_rounds_the_worse_figure_counts(double before, double now, bool atLeast, double worse) => Assert.Equal(
        worse, new AttackFigure("figure", now, 10, atLeast).Worse(new AttackFigure("figure", before, 10, atLeast)).Value);

    [Fact]
    public async Task A_row_that_cannot_be_run_fails_and_the_others_are_run()
    {
        FakeRow[] rows = [new("broken"), new("good", Figure(1))];
        Assert.Equal(1, await RunAsync(rows));
        Assert.Equal(1, rows[1].Rounds);
    }

    [Fact]
    public async Task Returning_clients_lose_nothing_that_is_not_counted_in_a_round_of_a_second()
    {
        IReadOnlyList<AttackFigure> figures = await new ReturningRow("tcp").RunAsync(TimeSpan.FromSeconds(1),
            TestContext.Current.CancellationToken);
        Assert.All(figures, static figure => Assert.True(figure.Passed, $"{figure.Name}: {figure.Value}, {figure.LimitText}"));
        Assert.InRange(figures.Single(static figure => figure.Name is "written").Value, 1, double.MaxValue);
    }

    [Fact]
    public void Each_row_has_a_name_of_its_own() =>
        Assert.Equal(AttackRows.All.Count, AttackRows.All.Select(static row => row.Name).Distinct(StringComparer.Ordinal).Count());

    private static AttackFigure Figure(double value) => new("figure", value, Limit: 10);

    private static Task<int> RunAsync(IReadOnlyList<AttackRow> rows, params string[] args) =>
        CommandLineProgram.RunAsync(new RootCommand { AttackCommand.Create(rows) }, ["attack", .. args]);

    private sealed class FakeRow(string name, AttackFigure? figure = null) : AttackRow(name)
    {
        public int Rounds { get; private set; }

        public TimeSpan Time { get; private set; }

        public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
        {
            await Task.Yield();
            Time = time;
            Rounds++;
            return [figure ?? throw new InvalidOperationException("it did not start")];
        }
    }
}
