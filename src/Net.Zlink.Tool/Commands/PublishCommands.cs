using System.CommandLine;

namespace Net.Zlink.Tool.Commands;

internal static class PublishCommands
{
    public static Command Sub(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        var topics = new Argument<string[]>("topic")
        {
            Description = "What the messages begin with; several are possible. None: all messages",
            Arity = ArgumentArity.ZeroOrMore,
        };
        return tool.Create("sub", "Subscribes and prints what is published (socket type SUB; talks to PUB and XPUB).",
            """
              zlink sub tcp://127.0.0.1:5556                      all messages
              zlink sub tcp://127.0.0.1:5556 price. trade.        those that begin with one of two topics
              zlink sub tcp://127.0.0.1:5556 -n 10 -f json        ten messages as lines of JSON
            """,
            [options.Endpoint, topics, options.Bind, options.Count, options.Timeout, options.Format, .. options.Tls],
            async run =>
            {
                SubSocket socket = run.Context.CreateSub(run.Secured(new SubOptions()));
                foreach (string topic in run.Get(topics) is { Length: > 0 } some ? some : [""])
                {
                    socket.Subscribe(topic);
                }

                await run.PrintAllAsync(run.Join(socket)).ConfigureAwait(false);
            });
    }

    public static Command Pub(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        var noWait = new Option<bool>("--no-wait")
        {
            Description = "Publish at once. Else the first subscription is waited for: what is published before reaches no subscriber",
        };
        return tool.Create("pub", "Publishes messages (socket type XPUB; talks to SUB and XSUB). The first part begins with the topic.",
            """
              zlink pub --bind tcp://*:5556 price.EUR 1.17                one message of two parts
              zlink pub --bind tcp://*:5556 price.EUR 1.17 -n 600 -r 10   ten a second for a minute
              tail -f log | zlink pub --bind tcp://*:5556                 each line is a message; a tab separates parts
            """,
            [
                options.Endpoint, options.Parts, options.Bind, noWait, options.Count, options.Rate, options.Timeout, options.Format,
                .. options.Tls,
            ],
            async run =>
            {
                XPubSocket socket = run.Join(run.Context.CreateXPub(run.Secured(new XPubOptions { NoDrop = true })));
                if (!run.Get(noWait))
                {
                    using Message subscription = await socket.ReceiveAsync(run.Token).ConfigureAwait(false);
                }

                await run.SendAllAsync(socket).ConfigureAwait(false);
                if (socket.GetStatistics().UnmatchedMessages is > 0 and long unmatched)
                {
                    run.Report($"{unmatched} messages matched no subscription");
                }
            });
    }
}
