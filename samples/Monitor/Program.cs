using System.CommandLine;
using Samples;
using Samples.Monitor;

Option<int> clients = Sample.Number("--clients", "Clients that come and go", 3, 1, 100);
Option<string> endpoint = Sample.Endpoint();
var command = new RootCommand(
    "Watches a ROUTER: its events as they happen, and a table of its peers. Clients come, talk and go.") { clients, endpoint };

return await Sample.RunAsync("Monitor", command, args, async (given, cancellation) =>
{
    var watch = new Watch(given.GetValue(clients), given.GetValue(endpoint)!, Console.Out);
    return await watch.RunAsync(cancellation).ConfigureAwait(false);
}).ConfigureAwait(false);
