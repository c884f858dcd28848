using System.CommandLine;
using Net.Zlink.Services;

namespace Net.Zlink.Tool.Commands;

internal static class ServiceCommands
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(5);

    public static Command Create(ZlinkTool tool) => new("service", "Uses services: receivers of requests.") { Ask(tool) };

    private static Command Ask(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        var service = new Argument<string>("service") { Description = "The name of the service" };
        var registry = new Option<string>("--registry")
        {
            Description = "The publisher endpoint of a registry that lists it",
            HelpName = "endpoint",
        };
        var at = new Option<string>("--at") { Description = "The endpoint of a receiver, instead of a registry", HelpName = "endpoint" };
        return tool.Create("ask", "Sends a request to a receiver of a service and prints its reply.",
            """
              zlink service ask quotes '{"Currency":"EUR"}' --registry tcp://127.0.0.1:5561
              zlink service ask requests '{"Currency":"EUR"}' --at tcp://127.0.0.1:5555 -t 1
            """,
            [service, options.Parts, registry, at, options.Count, options.Rate, options.Timeout, options.Format, .. options.Tls],
            async run =>
            {
                string name = run.Get(service)!;
                IServiceDirectory directory = (run.Get(registry), run.Get(at)) switch
                {
                    ({ } publisher, null) => RegistryCommands.Follow(run, ServiceKind.Receiver, publisher),
                    (null, { } endpoint) => new StaticDirectory(new ServiceInstance(name, endpoint)),
                    _ => throw new ToolException("say where the service is: either --registry or --at", ExitCode.Usage),
                };
                await AskAsync(run, directory, name).ConfigureAwait(false);
            },
            s_limit);
    }

    private static async Task AskAsync(CommandRun run, IServiceDirectory directory, string service)
    {
        var settings = new ServiceGatewayOptions { WaitForReady = true, RequestTimeout = run.Limit };
        run.Secured(settings.Socket);
        var gateway = new ServiceGateway(run.Context, directory, settings);
        await using (gateway.ConfigureAwait(false))
        {
            ServiceClient client = gateway.GetClient(service);
            run.WhyNoAnswer = $"the service '{service}' has no receiver that answered";
            await client.WaitUntilReadyAsync(1, run.Token).ConfigureAwait(false);
            using var request = new MessageBuilder(run.Context.Pool);
            await foreach (byte[][] parts in run.MessagesAsync(run.Token).ConfigureAwait(false))
            {
                using ServiceReply reply = await client.RequestAsync(request.AddAll(parts), null, run.Token).ConfigureAwait(false);
                run.Print([.. Enumerable.Range(0, reply.PartCount).Select(i => reply[i])], reply.Receiver.Endpoint);
            }
        }
    }
}
