using System.CommandLine;
using Net.Zlink.Services;

namespace Net.Zlink.Tool.Commands;

internal static class SpotCommands
{
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(20);

    // What a node subscribes to comes right behind its handshake, and no statistic shows that it has come.
    private static readonly TimeSpan s_subscribing = TimeSpan.FromMilliseconds(100);

    public static Command Create(ZlinkTool tool) => new("spot", "Publishes and subscribes by topic, as a SPOT node among others.")
    {
        Sub(tool), Pub(tool),
    };

    private static Command Sub(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        var node = new NodeOptions();
        var topics = new Argument<string[]>("topic")
        {
            Description = "A topic, or the begin of topics and a *; several are possible. None: all topics",
            Arity = ArgumentArity.ZeroOrMore,
        };
        return tool.Create("sub", "Prints what nodes publish: the topic, then the parts.",
            """
              zlink spot sub room:1 --connect tcp://127.0.0.1:5570
              zlink spot sub 'room:*' --registry tcp://127.0.0.1:5561 -n 10
            """,
            [topics, .. node.All, options.Count, options.Timeout, options.Format, .. options.Tls],
            run => node.RunAsync(run, spot => SubscribeAsync(run, spot, run.Get(topics)!)));
    }

    private static Command Pub(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        var node = new NodeOptions();
        var topic = new Argument<string>("topic") { Description = "The topic" };
        return tool.Create("pub", "Publishes to a topic as soon as another node is connected to this one.",
            """
              zlink spot pub room:1 hello --bind tcp://*:5570
              zlink spot pub room:1 hello --bind tcp://*:5570 --register tcp://127.0.0.1:5562
            """,
            [topic, options.Parts, .. node.All, options.Count, options.Rate, options.Timeout, options.Format, .. options.Tls],
            run => node.RunAsync(run, async spot =>
            {
                run.WhyNoAnswer = "no other node is connected to this one: it needs --bind, and the other one this endpoint or a registry";
                while (spot.GetStatistics().Followers == 0)
                {
                    await Task.Delay(s_look, run.Token).ConfigureAwait(false);
                }

                await Task.Delay(s_subscribing, run.Token).ConfigureAwait(false);

                using var message = new MessageBuilder(run.Context.Pool);
                await foreach (byte[][] parts in run.MessagesAsync(run.Token).ConfigureAwait(false))
                {
                    await spot.PublishAsync(run.Get(topic)!, message.AddAll(parts), run.Token).ConfigureAwait(false);
                }
            }));
    }

    private static async Task SubscribeAsync(CommandRun run, SpotNode spot, string[] topics)
    {
        SpotSubscriber subscriber = spot.CreateSubscriber();
        await using (subscriber.ConfigureAwait(false))
        {
            foreach (string topic in topics is [] ? ["*"] : topics)
            {
                if (topic.EndsWith('*'))
                {
                    subscriber.SubscribePrefix(topic[..^1]);
                }
                else
                {
                    subscriber.Subscribe(topic);
                }
            }

            while (!run.IsComplete)
            {
                using SpotMessage message = await subscriber.ReceiveAsync(run.Token).ConfigureAwait(false);
                run.Print([message.TopicBytes, .. Enumerable.Range(0, message.PartCount).Select(i => message[i])]);
            }
        }
    }

    /// <summary>How a node finds others, and they it.</summary>
    private sealed class NodeOptions
    {
        private readonly Option<string> _bind = Endpoint("--bind", "Where other nodes can connect");
        private readonly Option<string[]> _connect = new("--connect")
        {
            Description = "The endpoint of another node; several are possible",
            HelpName = "endpoint",
        };

        private readonly Option<string> _registry = Endpoint("--registry", "The publisher endpoint of a registry that lists other nodes");
        private readonly Option<string> _register = Endpoint("--register", "The router endpoint of a registry that is to list this node");

        public Symbol[] All => [_bind, _connect, _registry, _register];

        public async Task RunAsync(CommandRun run, Func<SpotNode, Task> use)
        {
            var settings = new SpotNodeOptions();
            run.Secured(settings.PublisherSocket);
            run.Secured(settings.SubscriberSocket);
            run.Secured(settings.RegistrySocket);
            var node = new SpotNode(run.Context, settings);
            await using (node.ConfigureAwait(false))
            {
                if (run.Get(_bind) is { } endpoint)
                {
                    run.ReportListening(node.Bind(endpoint));
                }

                foreach (string other in run.Get(_connect) ?? [])
                {
                    node.Connect(other);
                }

                if (run.Get(_register) is { } router)
                {
                    node.ConnectRegistry(router);
                    node.Register();
                }

                if (run.Get(_registry) is { } publisher)
                {
                    node.UseDirectory(RegistryCommands.Follow(run, ServiceKind.SpotNode, publisher));
                }

                await use(node).ConfigureAwait(false);
            }
        }

        private static Option<string> Endpoint(string name, string description) => new(name)
        {
            Description = description,
            HelpName = "endpoint",
        };
    }
}
