using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Tests.Engine;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>
/// Random operations on a publisher and a subscriber, beside a model of what must come, what may come and what must not: what was published
/// while both were at rest comes if a topic matches, and only then.
/// Nothing comes twice, torn or out of order; an XPUB's notices tell each topic's coming and going once.
/// </summary>
public sealed class PubSubModelTests
{
    private const int Sequences = 40;

    [Theory]
    [InlineData("PUB-SUB", "inproc")]
    [InlineData("PUB-SUB", "ipc")]
    [InlineData("PUB-SUB", "tcp")]
    [InlineData("XPUB-XSUB", "inproc")]
    [InlineData("XPUB-XSUB", "ipc")]
    [InlineData("XPUB-XSUB", "tcp")]
    [InlineData("XPUB-SUB", "tcp")]
    [InlineData("PUB-XSUB", "tcp")]
    public async Task Subscribers_get_what_they_asked_for_once_whole_and_in_order_whatever_happens(string types, string transport)
    {
        Gen<PubSubStep> any = Gen.Frequency(
            (16, Gen.Constant(PubSubStep.Publish)),
            (8, Gen.Elements(PubSubStep.Subscribe, PubSubStep.Subscribe, PubSubStep.Unsubscribe)),
            (8, Gen.Elements(PubSubStep.Receive, PubSubStep.Receive, PubSubStep.ReceiveCancelled)),
            (4, Gen.Constant(PubSubStep.SendUpstream)),
            (8, Gen.Constant(PubSubStep.Settle)),
            (2, Gen.Elements(PubSubStep.Bind, PubSubStep.Connect)),
            (1, Gen.Elements(PubSubStep.Unbind, PubSubStep.Disconnect, PubSubStep.CloseSubscriber, PubSubStep.ClosePublisher)));
        Gen<(PubSubStep Step, int Number)> operation =
            from step in any
            from number in Gen.Choose(0, 3)
            select (step, number);
        int shape = 0;
        await Task.Run(
            () => EngineFixture.ForAllArrays(operation, Sequences,
                operations => PlayAsync(types, transport, shape++ % 3 == 2 ? 2 : 0, operations).GetAwaiter().GetResult()),
            TestContext.Current.CancellationToken);
    }

    [Theory]
    [InlineData("inproc")]
    [InlineData("tcp")]
    public async Task Messages_upstream_of_one_and_of_several_parts_all_come(string transport)
    {
        // The sixteenth is the first of several parts, which random sequences seldom get to.
        (PubSubStep, int)[] operations = [(PubSubStep.Settle, 0), .. Enumerable.Repeat((PubSubStep.SendUpstream, 0), 24)];
        await PlayAsync("XPUB-XSUB", transport, mark: 0, operations);
    }

    private static async Task PlayAsync(string types, string transport, int mark, (PubSubStep Step, int Number)[] operations)
    {
        await using var world = new PubSubFixture(types, transport, mark);
        await world.DoAsync(PubSubStep.Bind, 0);
        await world.DoAsync(PubSubStep.Connect, 0);
        foreach ((PubSubStep step, int number) in operations)
        {
            await world.DoAsync(step, number);
        }

        await world.EndAsync();
    }
}
