using System.CommandLine;
using Samples;
using Samples.DealerRouter;

Option<int> workers = Sample.Number("--workers", "Workers that answer", 4, 1, 1000);
Option<int> requests = Sample.Number("--requests", "Requests to send", 20_000, 1, 100_000_000);
Option<string> endpoint = Sample.Endpoint();
var command = new RootCommand("A DEALER spreads requests over many ROUTER workers, and checks every answer.") { workers, requests,
    endpoint };

return await Sample.RunAsync("DealerRouter", command, args, async (given, cancellation) =>
{
    var demo = new RequestReply(given.GetValue(workers), given.GetValue(requests), given.GetValue(endpoint)!, Console.Out);
    try
    {
        await demo.RunAsync(cancellation).ConfigureAwait(false);
    }
    catch (OperationCanceledException)
    {
        Tell();
        throw;
    }

    Tell();
    return demo.Right == given.GetValue(requests) && demo.Served.All(static n => n > 0) ? null
        : "an answer is wrong or missing, or a worker got nothing to do";

    void Tell()
    {
        for (int i = 0; i < demo.Served.Count; i++)
        {
            Console.WriteLine(FormattableString.Invariant($"worker {i}: {demo.Served[i],10:N0} requests answered"));
        }

        Console.WriteLine(FormattableString.Invariant($"{demo.Right:N0} of {given.GetValue(requests):N0} answers right"));
    }
}).ConfigureAwait(false);
