// A registry, two receivers of the service "double", and a gateway that finds both and asks them in turn: in one process, over tcp.
using System.Globalization;
using Net.Zlink;
using Net.Zlink.Services;
using Samples;

await using var context = new ZlinkContext();
await using var registry = new ServiceRegistry(context, new ServiceRegistryOptions
{
    PublisherEndpoint = "tcp://127.0.0.1:*",
    RouterEndpoint = "tcp://127.0.0.1:*",
});
registry.Start();
Console.WriteLine($"A registry is at {registry.RouterEndpoint}; two receivers register with it.");

await using ServiceReceiver first = await StartReceiverAsync();
await using ServiceReceiver second = await StartReceiverAsync();

await using var discovery = new RegistryDirectory(context);
discovery.ConnectRegistry(registry.PublisherEndpoint);
await using var gateway = new ServiceGateway(context, discovery);
ServiceClient client = gateway.GetClient("double");
await client.WaitUntilReadyAsync(receivers: 2);

const int Requests = 1000;
Console.WriteLine($"The gateway has found both; it sends {Requests} requests.");
var progress = new Progress(Console.Out, "requests", Requests);
var answers = new Dictionary<string, int>(StringComparer.Ordinal);
int wrong = 0;
for (int i = 0; i < Requests; i++)
{
    using ServiceReply reply = await client.RequestAsync(BitConverter.GetBytes(i), timeout: TimeSpan.FromSeconds(5));
    wrong += BitConverter.ToInt32(reply.Span) == 2 * i ? 0 : 1;
    answers[reply.Receiver.Endpoint] = answers.GetValueOrDefault(reply.Receiver.Endpoint) + 1;
    progress.Show(i + 1);
}

foreach ((string endpoint, int count) in answers)
{
    Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{endpoint} answered {count} requests"));
}

Console.WriteLine(wrong == 0 ? $"All {Requests} replies are right." : $"FAIL: {wrong} of {Requests} replies are wrong.");
return wrong == 0 ? 0 : 1;

async Task<ServiceReceiver> StartReceiverAsync()
{
    var receiver = new ServiceReceiver(context);
    receiver.Bind("tcp://127.0.0.1:*");
    receiver.ConnectRegistry(registry.RouterEndpoint);
    _ = receiver.ServeAsync(static (request, cancellation) =>
        request.ReplyAsync(BitConverter.GetBytes(2 * BitConverter.ToInt32(request.Span)), cancellation));
    await receiver.RegisterAsync("double");
    return receiver;
}
