using System.CommandLine;

namespace Net.Zlink.Tool.Commands;

internal static class QueueCommands
{
    public static Command Push(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        Option<bool> pair = Pair();
        return tool.Create("push",
            "Sends messages, in turn to each peer (socket type DEALER, or PAIR; zlink has no PUSH). Waits until they are written.",
            """
              zlink push tcp://127.0.0.1:5557 job 1            one message of two parts
              seq 100 | zlink push --bind tcp://*:5557         a hundred, shared among all that pull
            """,
            [
                options.Endpoint, options.Parts, options.Bind, pair, options.Count, options.Rate, options.Timeout, options.Format,
                .. options.Tls,
            ],
            async run =>
            {
                DuplexSocket socket = Open(run, pair);
                await run.SendAllAsync(socket).ConfigureAwait(false);
            });
    }

    public static Command Pull(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        Option<bool> pair = Pair();
        return tool.Create("pull", "Prints what peers send, in turn from each (socket type DEALER, or PAIR; zlink has no PULL).",
            """
              zlink pull --bind tcp://*:5557 -n 100            a hundred messages from any number of peers
              zlink pull tcp://127.0.0.1:5557 -t 10            what comes within ten seconds
            """,
            [options.Endpoint, options.Bind, pair, options.Count, options.Timeout, options.Format, .. options.Tls],
            async run => await run.PrintAllAsync(Open(run, pair)).ConfigureAwait(false));
    }

    private static Option<bool> Pair() => new("--pair") { Description = "Be a PAIR, which has one peer, a PAIR. Else be a DEALER" };

    private static DuplexSocket Open(CommandRun run, Option<bool> pair) => run.Get(pair)
        ? run.Join(run.Context.CreatePair(run.Secured(new PairOptions())))
        : run.Join(run.Context.CreateDealer(run.Secured(new DealerOptions())));
}
