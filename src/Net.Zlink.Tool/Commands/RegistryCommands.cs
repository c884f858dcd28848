using System.CommandLine;
using System.Globalization;
using Net.Zlink.Services;

namespace Net.Zlink.Tool.Commands;

internal static class RegistryCommands
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(20);

    public static Command Create(ZlinkTool tool) => new("registry", "Runs a registry of services, or shows what one lists.")
    {
        Run(tool), List(tool), Watch(tool),
    };

    private static Command Run(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        Option<string> publisher = Endpoint("--publisher", "Where directories and other registries follow the list", "tcp://*:5561");
        Option<string> router = Endpoint("--router", "Where receivers register", "tcp://*:5562");
        var peers = new Option<string[]>("--peer")
        {
            Description = "The publisher endpoint of another registry; several are possible",
            HelpName = "endpoint",
        };
        return tool.Create("run", "Runs a registry and prints what happens at it.",
            """
              zlink registry run
              zlink registry run --publisher tcp://*:6561 --router tcp://*:6562 --peer tcp://other:5561
            """,
            [publisher, router, peers, options.Timeout, options.Format, .. options.Tls],
            async run =>
            {
                run.IsServer = true;
                var settings = new ServiceRegistryOptions
                {
                    PublisherEndpoint = run.Get(publisher)!,
                    RouterEndpoint = run.Get(router)!,
                    Peers = run.Get(peers) ?? [],
                };
                run.Secured(settings.PublisherSocket);
                run.Secured(settings.RouterSocket);
                run.Secured(settings.PeerSocket);
                var registry = new ServiceRegistry(run.Context, settings);
                await using (registry.ConfigureAwait(false))
                {
                    registry.Start();
                    IAsyncEnumerable<RegistryEvent> events = registry.WatchAsync(run.Token);
                    run.ReportListening(registry.PublisherEndpoint);
                    run.ReportListening(registry.RouterEndpoint);
                    await foreach (RegistryEvent one in events.ConfigureAwait(false))
                    {
                        run.Print($"{one}", json =>
                        {
                            json.WriteString("at", one.At);
                            json.WriteString("event", $"{one.Type}");
                            json.WriteString("service", one.Instance?.Service);
                            json.WriteString("endpoint", one.Instance?.Endpoint);
                            json.WriteString("text", one.Text);
                        });
                    }
                }
            });
    }

    private static Command List(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        Option<ServiceKind> kind = Kind();
        return tool.Create("list", "Prints the services that a registry lists. The endpoint is the registry's publisher.",
            """
              zlink registry list tcp://127.0.0.1:5561
              zlink registry list tcp://127.0.0.1:5561 --kind SpotNode -f json
            """,
            [options.Endpoint, kind, options.Timeout, options.Format, .. options.Tls],
            async run =>
            {
                RegistryDirectory directory = Follow(run, kind);
                await using (directory.ConfigureAwait(false))
                {
                    await WaitForListAsync(run, directory).ConfigureAwait(false);
                    foreach (ServiceInstance instance in directory.GetServices().SelectMany(static service => service.Instances))
                    {
                        Print(run, "", instance);
                    }
                }
            },
            s_limit);
    }

    private static Command Watch(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        Option<ServiceKind> kind = Kind();
        return tool.Create("watch", "Prints each instance of a service that comes (+), changes (=) or goes (-).",
            """
              zlink registry watch tcp://127.0.0.1:5561
              zlink registry watch tcp://127.0.0.1:5561 -n 1 -t 60 && echo "the first one is there"
            """,
            [options.Endpoint, kind, options.Count, options.Timeout, options.Format, .. options.Tls],
            async run =>
            {
                RegistryDirectory directory = Follow(run, kind);
                await using (directory.ConfigureAwait(false))
                {
                    await foreach (ServiceChange change in directory.WatchAsync(service: null, run.Token).ConfigureAwait(false))
                    {
                        PrintAll(run, "+ ", change.Added);
                        PrintAll(run, "= ", change.Updated);
                        PrintAll(run, "- ", change.Removed);
                        if (run.IsComplete)
                        {
                            return;
                        }
                    }
                }
            });
    }

    /// <summary>Completes when the registry has sent its first list.</summary>
    public static async Task WaitForListAsync(CommandRun run, RegistryDirectory directory)
    {
        while (directory.GetRegistries()[0] is { LastListAt: null } registry)
        {
            if (run.Token.IsCancellationRequested)
            {
                run.WhyNoAnswer = registry.WhyNotConnected is { } why ? $"{registry.Endpoint} is not connected: {why}"
                    : $"{registry.Endpoint} has sent no list: it is the registry's publisher endpoint that is needed here";
                run.Token.ThrowIfCancellationRequested();
            }

            await Task.Delay(s_look, run.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    public static RegistryDirectory Follow(CommandRun run, ServiceKind kind, string publisher)
    {
        var settings = new RegistryDirectoryOptions();
        run.Secured(settings.Socket);
        var directory = new RegistryDirectory(run.Context, kind, settings);
        directory.ConnectRegistry(publisher);
        return directory;
    }

    private static RegistryDirectory Follow(CommandRun run, Option<ServiceKind> kind) => Follow(run, run.Get(kind), run.Endpoint);

    private static void PrintAll(CommandRun run, string change, IEnumerable<ServiceInstance> instances)
    {
        foreach (ServiceInstance instance in instances)
        {
            Print(run, change, instance);
        }
    }

    private static void Print(CommandRun run, string change, ServiceInstance instance)
    {
        string weight = string.Create(CultureInfo.InvariantCulture, $"weight {instance.Weight}");
        run.Print($"{change}{instance.Service}\t{instance.Endpoint}\t{weight}", json =>
        {
            if (change.Length > 0)
            {
                json.WriteString("change", change.Trim());
            }

            json.WriteString("service", instance.Service);
            json.WriteString("endpoint", instance.Endpoint);
            json.WriteNumber("weight", instance.Weight);
            json.WriteString("id", $"{instance.RoutingId}");
        });
    }

    private static Option<ServiceKind> Kind() =>
        ToolOptions.OneOf("--kind", "What is listed: receivers of requests, or SPOT nodes", ServiceKind.Receiver);

    private static Option<string> Endpoint(string name, string description, string standard) => new(name)
    {
        Description = description,
        HelpName = "endpoint",
        DefaultValueFactory = _ => standard,
    };
}
