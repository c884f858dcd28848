using System.Diagnostics;
using Net.Zlink.Scenarios.Attacks;
using Net.Zlink.Scenarios.Patterns.Services.Chaos;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Patterns.Services;

public sealed class ChaosCheckerTests
{
    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(2);
    private static readonly long s_id = ChaosId.Of(1, 1, 1);

    [Fact]
    public void A_request_that_was_executed_once_and_answered_in_time_is_no_fault()
    {
        var checker = new RequestChecker([Receiver(s_id), Gateway(Started(0), Ended(1, ChaosOutcome.Answered))], s_timeout);
        Assert.Empty(Failed(checker.Figures));
        Assert.Empty(checker.Faults);
    }

    [Theory]
    [InlineData(2, ChaosOutcome.Answered, 1, "executed twice")]
    [InlineData(2, ChaosOutcome.Lost, 1, "executed twice")]
    [InlineData(1, ChaosOutcome.NotExecuted, 1, "said to be not executed, and executed")]
    [InlineData(0, ChaosOutcome.Answered, 1, "answered or failed, and never executed")]
    [InlineData(0, ChaosOutcome.Failed, 1, "answered or failed, and never executed")]
    [InlineData(1, ChaosOutcome.WrongReply, 1, "reply of another request")]
    [InlineData(1, ChaosOutcome.Unexpected, 1, "unexpected exceptions")]
    [InlineData(0, ChaosOutcome.TimedOut, 3.1, "ended 1 s after their time or later")]
    public void A_request_with_a_fault_fails_the_figure_for_it(int executions, object outcome, double seconds, string figure)
    {
        var checker = new RequestChecker(
            [Receiver([.. Enumerable.Repeat(s_id, executions)]), Gateway(Started(0), Ended(seconds, (ChaosOutcome)outcome)), Good()],
            s_timeout);
        Assert.Equal([figure], Failed(checker.Figures));
        Assert.Single(checker.Faults);
    }

    [Theory]
    [InlineData(true, "never ended")]
    [InlineData(false, null)]
    public void A_request_without_an_end_is_a_fault_of_a_gateway_that_ended_in_order(bool inOrder, string? figure)
    {
        ChaosLife gateway = Gateway(Started(0));
        gateway.EndedInOrder = inOrder;
        var checker = new RequestChecker([Receiver(), gateway, Good()], s_timeout);
        Assert.Equal(figure is null ? [] : [figure], Failed(checker.Figures));
    }

    [Fact]
    public void A_second_end_of_a_request_is_a_fault() => Assert.Equal(["ended twice"], Failed(new RequestChecker(
        [Receiver(s_id), Gateway(Started(0), Ended(1, ChaosOutcome.Answered), Ended(1, ChaosOutcome.TimedOut))], s_timeout).Figures));

    [Fact]
    public void The_time_that_a_gateway_stood_still_is_not_its_requests_time()
    {
        ChaosLife gateway = Gateway(Started(0), Ended(12, ChaosOutcome.TimedOut));
        gateway.Pauses.Add((At(1), At(11)));
        Assert.Empty(Failed(new RequestChecker([Receiver(), gateway, Good()], s_timeout).Figures));
    }

    [Theory]
    [InlineData(new uint[] { 3, 4, 5 }, 0, null)]
    [InlineData(new uint[] { 3, 5 }, 1, null)]
    [InlineData(new uint[] { 3, 5 }, 0, "missing, and neither announced nor counted")]
    [InlineData(new uint[] { 3, 3 }, 0, "received twice or out of order")]
    [InlineData(new uint[] { 4, 3 }, 0, "received twice or out of order")]
    public void Messages_of_a_node_come_once_in_order_and_what_is_missing_is_announced(uint[] sequences, int sign, string? figure)
    {
        ChaosLife publisher = Spot(1, [.. Enumerable.Range(1, 6).Select(static at => new ChaosRecord(ChaosFact.Published, 0, at, 0))]);
        ChaosLife node = Spot(2, [.. sequences.Select(
            (sequence, at) => new ChaosRecord(ChaosFact.Received, at == 0 ? 0 : sign, ChaosId.Of(1, 1, sequence), 0))]);
        Assert.Equal(figure is null ? [] : [figure], Failed(new SpotChecker([publisher, node]).Figures));
    }

    [Theory]
    [InlineData(6, true)]
    [InlineData(5, false)]
    public void The_last_message_reaches_whoever_was_there_when_its_publisher_stopped(uint last, bool isGood)
    {
        ChaosLife publisher = Spot(1, [.. Enumerable.Range(1, 6).SelectMany(static at => new[]
        {
            new ChaosRecord(ChaosFact.Published, 0, at, 0), new ChaosRecord(ChaosFact.Received, 0, ChaosId.Of(1, 1, (uint)at), 0),
        })]);
        ChaosLife node = Spot(2, [.. Enumerable.Range(1, (int)last)
            .Select(static at => new ChaosRecord(ChaosFact.Received, 0, ChaosId.Of(1, 1, (uint)at), 0))]);
        node.IsLast = publisher.IsLast = true;
        Assert.Equal(isGood, Failed(new SpotChecker([publisher, node]).Figures).Length == 0);
    }

    [Fact]
    public void Books_that_are_off_are_a_fault() => Assert.Equal(["books that do not add up"], Failed(new SpotChecker(
        [Spot(1, [.. Own(1), new ChaosRecord(ChaosFact.Books, 1, 0, 0)])]).Figures));

    [Fact]
    public void A_log_is_read_as_it_was_written_without_a_record_that_was_cut_off()
    {
        using var folder = new Support.TestFolder();
        string file = folder.File("log");
        using (var log = new ChaosLog(file))
        {
            log.Append(ChaosFact.Started, s_id);
            log.Append(ChaosFact.Ended, s_id, (int)ChaosOutcome.Lost);
        }

        File.AppendAllText(file, "cut");
        Assert.Equal([(ChaosFact.Started, 0, s_id), (ChaosFact.Ended, (int)ChaosOutcome.Lost, s_id)],
            ChaosLog.Read(file).Select(static record => (record.Fact, record.Value, record.Id)));
        Assert.Empty(ChaosLog.Read(folder.File("none")));
    }

    private static string[] Failed(IReadOnlyList<AttackFigure> figures) =>
        [.. figures.Where(static figure => !figure.Passed).Select(static figure => figure.Name)];

    private static long At(double seconds) => (long)(seconds * Stopwatch.Frequency);

    private static ChaosRecord Started(double seconds) => new(ChaosFact.Started, 0, s_id, At(seconds));

    private static ChaosRecord Ended(double seconds, ChaosOutcome outcome) => new(ChaosFact.Ended, (int)outcome, s_id, At(seconds));

    private static ChaosLife Gateway(params ChaosRecord[] records) =>
        new(ChaosRole.Gateway, 1, 1) { Records = records, EndedInOrder = true };

    private static ChaosLife Receiver(params long[] executed) => new(ChaosRole.Receiver, 1, 1)
    {
        // And the one of Good.
        Records = [.. executed.Append(ChaosId.Of(2, 1, 1)).Select(static id => new ChaosRecord(ChaosFact.Executed, 1, id, 0))],
    };

    /// <summary>Another gateway, so that something was answered.</summary>
    private static ChaosLife Good() => new(ChaosRole.Gateway, 2, 1)
    {
        Records = [new(ChaosFact.Started, 0, ChaosId.Of(2, 1, 1), 0), new(ChaosFact.Ended, 0, ChaosId.Of(2, 1, 1), 1)],
    };

    private static ChaosLife Spot(int number, ChaosRecord[] records) => new(ChaosRole.Spot, number, 1) { Records = records };

    /// <summary>A node that has published and heard itself.</summary>
    private static ChaosRecord[] Own(int number) =>
    [
        new(ChaosFact.Published, 0, ChaosId.Of(number, 1, 1), 0), new(ChaosFact.Received, 0, ChaosId.Of(number, 1, 1), 0),
    ];
}
