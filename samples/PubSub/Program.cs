using System.CommandLine;
using Samples;
using Samples.PubSub;

Option<int> messages = Sample.Number("--messages", "Messages to publish", 40_000, 1_000, 100_000_000);
Option<int> mark = Sample.Number("--mark", "Messages that may wait for one subscriber", 500, 1, 1_000_000);
Option<string> endpoint = Sample.Endpoint();
var command = new RootCommand(
    "A publisher with topics, two subscribers that keep up and one that does not: what that one misses is counted, and nobody else "
    + "misses anything.")
{
    messages, mark, endpoint,
};

return await Sample.RunAsync("PubSub", command, args, async (given, cancellation) =>
{
    var market = new Market(given.GetValue(messages), given.GetValue(mark), given.GetValue(endpoint)!);
    return await market.RunAsync(Console.Out, cancellation).ConfigureAwait(false);
}).ConfigureAwait(false);
