using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Tests.Engine;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>
/// Random operations on two sockets that talk both ways, beside a model that knows what was accepted and what was received. Whatever is
/// bound, connected, ended, cancelled or closed in between: nothing comes
/// twice, torn or out of order, and what does not come is in the books.
/// </summary>
public sealed class DuplexModelTests
{
    // A sequence has up to some hundred operations and takes some ten milliseconds.
    private const int Sequences = 40;

    [Theory]
    [InlineData("PAIR", "inproc")]
    [InlineData("PAIR", "ipc")]
    [InlineData("PAIR", "tcp")]
    [InlineData("DEALER-ROUTER", "inproc")]
    [InlineData("DEALER-ROUTER", "ipc")]
    [InlineData("DEALER-ROUTER", "tcp")]
    [InlineData("DEALER", "inproc")]
    [InlineData("DEALER", "tcp")]
    public async Task Messages_of_random_operations_come_once_whole_and_in_order_and_lost_ones_are_counted(string types, string transport)
    {
        Gen<DuplexStep> calm = Gen.Frequency(
            (20, Gen.Constant(DuplexStep.Send)),
            (6, Gen.Constant(DuplexStep.SendCancelled)),
            (16, Gen.Constant(DuplexStep.Receive)),
            (6, Gen.Constant(DuplexStep.ReceiveCancelled)),
            (3, Gen.Constant(DuplexStep.Settle)));
        Gen<DuplexStep> any = Gen.Frequency(
            (12, calm),
            (1, Gen.Constant(DuplexStep.Bind)),
            (1, Gen.Constant(DuplexStep.Connect)),
            (1, Gen.Elements(DuplexStep.Unbind, DuplexStep.Disconnect, DuplexStep.Close)));
        Gen<(DuplexStep Step, int Number)> operation =
            from step in any
            from number in Gen.Choose(0, 1)
            select (step, number);

        // Marks by turns, and with them whether what is left is delivered or dropped. A shrunk example runs under each of them anyway.
        int shape = 0;
        await Task.Run(
            () => EngineFixture.ForAllArrays(
                operation,
                Sequences,
                operations =>
                {
                    int mark = (shape % 3) switch { 0 => 0, 1 => 1, _ => 5 };
                    bool lingers = shape % 2 == 0;
                    shape++;
                    PlayAsync(types, transport, mark, lingers, operations).GetAwaiter().GetResult();
                }),
            TestContext.Current.CancellationToken);
    }

    private static async Task PlayAsync(string types, string transport, int mark, bool lingers, (DuplexStep Step, int Number)[] operations)
    {
        await using var world = new DuplexFixture(types, transport, mark, lingers);
        foreach ((DuplexStep step, int number) in operations)
        {
            await world.DoAsync(step, number);
        }

        await world.EndAsync();
    }
}
