using System.CommandLine;
using System.Diagnostics;
using System.Globalization;

namespace Net.Zlink.Tool.Commands;

/// <summary>Requests to an echo: how many a second, and how long each takes.</summary>
internal static class BenchCommand
{
    public static Command Create(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        var endpoint = new Argument<string?>("endpoint")
        {
            Description = "Where a ROUTER sends back what it gets, such as 'zlink reply'. Without it this process does, over tcp",
            Arity = ArgumentArity.ZeroOrOne,
        };
        Option<int> requests = ToolOptions.Whole("--requests", "How many requests are measured", 100_000, 1, 100_000_000);
        Option<int> size = ToolOptions.Whole("--size", "The bytes of a request", 64, 0, 1 << 24);
        Option<int> inFlight = ToolOptions.Whole("--in-flight", "How many requests wait for their reply at a time", 1, 1, 100_000);
        return tool.Create("bench", "Measures requests and replies of one DEALER: the rate, and the time that each takes.",
            """
              zlink bench                                                          this machine, over tcp, one by one
              zlink bench tcp://127.0.0.1:5555 --size 1024 --in-flight 100         beside zlink reply --bind tcp://*:5555 > /dev/null
            """,
            [endpoint, requests, size, inFlight, options.Timeout, .. options.Tls],
            async run =>
            {
                string at = run.Get(endpoint) ?? Echo(run);
                DealerSocket socket = run.Join(run.Context.CreateDealer(run.Secured(new DealerOptions())), at, bind: false);
                var bench = new Exchange(socket, new byte[run.Get(size)], run.Get(inFlight));
                await bench.RunAsync(Math.Min(1000, run.Get(requests)), run.Token).ConfigureAwait(false); // Connects, and compiles.
                long started = Stopwatch.GetTimestamp();
                long[] times = await bench.RunAsync(run.Get(requests), run.Token).ConfigureAwait(false);
                double seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
                Array.Sort(times);
                run.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"requests     {times.Length / seconds:N0} a second"));
                run.Out.WriteLine(string.Create(CultureInfo.InvariantCulture,
                    $"round trip   median {Micros(times, 0.5):N0} us, 99 % {Micros(times, 0.99):N0} us, longest {Micros(times, 1):N0} us"));
            });
    }

    private static double Micros(long[] sorted, double part) =>
        Stopwatch.GetElapsedTime(0, sorted[(int)Math.Min(sorted.Length - 1, sorted.Length * part)]).TotalMicroseconds;

    private static string Echo(CommandRun run)
    {
        RouterSocket echo = run.Context.CreateRouter();
        string endpoint = echo.Bind("tcp://127.0.0.1:*");
        _ = EchoAsync(echo, run.Token);
        return endpoint;
    }

    private static async Task EchoAsync(RouterSocket socket, CancellationToken cancellation)
    {
        await foreach (Message request in socket.ReceiveAllAsync(cancellation).ConfigureAwait(false))
        {
            using (request)
            {
                await socket.To(request).SendAsync(request.Memory, cancellation).ConfigureAwait(false);
            }
        }
    }

    private sealed class Exchange(DealerSocket socket, byte[] payload, int inFlight)
    {
        /// <summary>Returns how long each request took. Replies come in the order of the requests: there is one peer.</summary>
        public async Task<long[]> RunAsync(int requests, CancellationToken cancellation)
        {
            long[] times = new long[requests];
            int sent = 0;
            for (int received = 0; received < requests; received++)
            {
                for (; sent < requests && sent - received < inFlight; sent++)
                {
                    times[sent] = Stopwatch.GetTimestamp();
                    await socket.SendAsync(payload, cancellation).ConfigureAwait(false);
                }

                using Message reply = await socket.ReceiveAsync(cancellation).ConfigureAwait(false);
                times[received] = Stopwatch.GetTimestamp() - times[received];
            }

            return times;
        }
    }
}
