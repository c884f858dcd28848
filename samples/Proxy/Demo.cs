using System.Diagnostics;
using System.Globalization;
using Net.Zlink;

namespace ProxySample;

/// <summary>Clients, proxy and workers in one process, and what became of it.</summary>
internal static class Demo
{
    /// <returns>What went wrong; null: every reply was checked and right.</returns>
    public static async Task<string?> RunAsync(Options options, CancellationToken cancellation)
    {
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        await using var context = new ZlinkContext();
        RouterSocket front = context.CreateRouter();
        DealerSocket back = context.CreateDealer();
        string clientsAt = front.Bind(EndpointOf(options.Transport, "front"));
        string workersAt = back.Bind(EndpointOf(options.Transport, "back"));

        using var capture = options.Capture ? new Capture(context) : null;
        var proxy = new SocketProxy(front, back, capture?.Socket);
        Task proxying = proxy.RunAsync(CancellationToken.None);
        Console.WriteLine($"READY clients ask at {clientsAt}, workers answer at {workersAt}");

        Worker[] workers = [.. Enumerable.Range(0, options.Workers).Select(i => new Worker(i, Connected(context, workersAt)))];
        Task[] working = [.. workers.Select(static worker => worker.RunAsync())];
        Client[] clients = [.. Enumerable.Range(0, options.Clients)
            .Select(i => new Client(i, Connected(context, clientsAt), options, ShareOf(options, i)))];
        long started = Stopwatch.GetTimestamp();
        var status = new StatusLine(proxy, workers);
        try
        {
            // A client that fails ends the others; so does the proxy, or a worker.
            Task asking = Task.WhenAll(clients.Select(client => AskAsync(client, cancel)));
            Task[] all = [asking, proxying, .. working];
            while (!all.Any(static task => task.IsCompleted))
            {
                await Task.WhenAny([.. all, Task.Delay(TimeSpan.FromSeconds(1), CancellationToken.None)]);
                if (!options.Quiet && !asking.IsCompleted)
                {
                    status.Show();
                }
            }

            await await Task.WhenAny(all);
        }
        catch (WrongReplyException failure)
        {
            status.End();
            return Invariant($"FAIL after {clients.Sum(static client => client.Checked):N0} right replies: {failure.Message}");
        }
        catch (OperationCanceledException)
        {
            status.End();
            Console.WriteLine(Invariant(
                $"Stopped after {clients.Sum(static client => client.Checked):N0} right replies of {options.Requests:N0}."));
            proxy.Stop();
            await proxying;
            // Requests and replies under way have nobody to go to any more.
            await context.ShutdownAsync(TimeSpan.FromSeconds(5), CancellationToken.None);
            await Task.WhenAll(working);
            throw;
        }

        status.End();
        TimeSpan took = Stopwatch.GetElapsedTime(started);
        proxy.Stop();
        await proxying;
        long captured = capture is null ? 0 : await capture.CountAsync();
        ShutdownReport report = await context.ShutdownAsync(TimeSpan.FromSeconds(5), CancellationToken.None);
        await Task.WhenAll(working);
        return Sum(options, proxy.GetStatistics(), workers, clients, took, report, captured);
    }

    /// <summary>The summary; it must add up.</summary>
    private static string? Sum(Options options, ProxyStatistics passed, Worker[] workers, Client[] clients, TimeSpan took,
        ShutdownReport report, long captured)
    {
        long right = clients.Sum(static client => client.Checked);
        Console.WriteLine(Invariant($"""
            Took {took.TotalSeconds:F2} s: {right / took.TotalSeconds:N0} requests and as many replies a second.
              to the workers  {passed.FrontReceived.Messages:N0} messages, {passed.FrontReceived.Bytes / 1e6:N1} MB
              to the clients  {passed.FrontSent.Messages:N0} messages, {passed.FrontSent.Bytes / 1e6:N1} MB
              per worker      {string.Join(", ", workers.Select(static worker => worker.Answered.ToString("N0", CultureInfo.InvariantCulture)))}
            """));
        if (options.Capture)
        {
            Console.WriteLine(Invariant($"  captured        {captured:N0} messages"));
        }

        if (right != options.Requests || passed.FrontReceived.Messages != right || passed.FrontSent.Messages != right
            || passed.Undeliverable != 0 || report.UndeliveredMessages != 0 || (options.Capture && captured != 2 * right))
        {
            return Invariant($"FAIL: {options.Requests:N0} requests were made, and the counts above do not add up to them.");
        }

        Console.WriteLine(Invariant($"PASS: {right:N0} replies, every one checked: right, once, and to the client that asked."));
        return null;
    }

    private static async Task AskAsync(Client client, CancellationTokenSource cancel)
    {
        try
        {
            await client.RunAsync(cancel.Token);
        }
        catch
        {
            await cancel.CancelAsync();
            throw;
        }
    }

    private static DealerSocket Connected(ZlinkContext context, string endpoint)
    {
        DealerSocket socket = context.CreateDealer();
        socket.Connect(endpoint);
        return socket;
    }

    private static int ShareOf(Options options, int client) =>
        (options.Requests / options.Clients) + (client < options.Requests % options.Clients ? 1 : 0);

    private static string EndpointOf(string transport, string name) => transport switch
    {
        "ipc" => "ipc://*",
        "inproc" => $"inproc://{name}",
        _ => "tcp://127.0.0.1:0",
    };

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
