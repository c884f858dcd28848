using System.CommandLine;
using ProxySample;
using Samples;

var transport = Sample.Choice("--transport", "How clients and workers reach the proxy. Default: tcp",
    ("tcp", "tcp"), ("ipc", "ipc"), ("inproc", "inproc"));
transport.Aliases.Add("-t");
Option<int> clients = Sample.Number("--clients", "Clients that ask", 4, 1, 1_000);
Option<int> workers = Sample.Number("--workers", "Workers that answer; requests go round them", 3, 1, 1_000);
Option<int> requests = Sample.Number("--requests", "Requests of all clients together", 400_000, 1, 100_000_000);
Option<int> size = Sample.Number("--size", "Bytes of a request", 64, Request.SmallestSize, 1 << 20);
Option<int> inFlight = Sample.Number("--in-flight", "Requests that one client has under way at most", 100, 1, 100_000);
var capture = new Option<bool>("--capture") { Description = "Send a copy of every message to a third socket, which counts them" };
var quiet = new Option<bool>("--quiet", "-q") { Description = "No live status; the summary stays" };
RootCommand command = new RootCommand(
    "A ROUTER/DEALER proxy on Net.Zlink between clients and workers, all in this process; every reply is checked.")
{
    transport, clients, workers, requests, size, inFlight, capture, quiet,
}.WithExamples(
    """
    Examples:
      Proxy                                      4 clients, 3 workers, 400,000 requests over tcp, in some seconds
      Proxy --transport inproc --size 65536      messages pass the proxy by reference, uncopied
      Proxy --workers 1 --in-flight 1            round trips one by one: what a request costs when nothing else goes on
      Proxy --capture                            with a third socket that sees everything

    From the source tree: dotnet run -c Release --project samples/Proxy
    """);

return await Sample.RunAsync("Proxy", command, args, (given, cancellation) => Demo.RunAsync(
    new Options
    {
        Transport = given.GetValue(transport) ?? "tcp",
        Clients = given.GetValue(clients),
        Workers = given.GetValue(workers),
        Requests = given.GetValue(requests),
        Size = given.GetValue(size),
        InFlight = given.GetValue(inFlight),
        Capture = given.GetValue(capture),
        Quiet = given.GetValue(quiet),
    },
    cancellation));
