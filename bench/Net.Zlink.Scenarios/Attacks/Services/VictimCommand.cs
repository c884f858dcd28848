using System.Collections.Concurrent;
using System.CommandLine;
using System.Globalization;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A gateway or a receiver in a process of its own, whose heap may be small. A line of input asks for its state, as of
/// <see cref="ServedCommand"/>.</summary>
internal static class VictimCommand
{
    public const string Name = "attack-services";
    public const string AsGateway = "gateway";
    public const string AsReceiver = "receiver";
    public const string Service = "attacked";

    private const string OtherService = "other";

    private const double BytesPerMebibyte = 1 << 20;

    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_between = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan s_slow = TimeSpan.FromMilliseconds(200);

    public static Command Create()
    {
        var role = new Option<string>("--role") { Description = $"{AsGateway} or {AsReceiver}.", Required = true };
        var endpoints = new Option<string[]>("--endpoint") { Description = "Of a gateway, repeatable: its receiver, then others." };
        var command = new Command(Name, "A gateway or a receiver that counts what it does; 'attack' runs it.") { role, endpoints };
        command.SetAction(async (request, cancellation) =>
        {
            await using var context = new ZlinkContext();
            var counts = new ConcurrentDictionary<string, long>(StringComparer.Ordinal);
            await (request.GetValue(role) is AsReceiver ? ServeAsync(context, counts, cancellation)
                : AskAsync(context, request.GetValue(endpoints)!, counts, cancellation));
            return 0;
        });
        return command;
    }

    /// <summary>Handlers that are slow, so that requests wait.</summary>
    private static async Task ServeAsync(ZlinkContext context, ConcurrentDictionary<string, long> counts, CancellationToken cancellation)
    {
        await using var receiver = new ServiceReceiver(context);
        Console.WriteLine(ServedCommand.Bound + receiver.Bind("tcp://127.0.0.1:*"));
        Task serving = receiver.ServeAsync(
            async (request, stop) =>
            {
                await Task.Delay(s_slow, stop);
                Count(counts, "done");
                await request.ReplyAsync(ReadOnlyMemory<byte>.Empty, stop);
            },
            maxConcurrency: 4,
            cancellation);
        await AnswerAsync(context, counts, serving, cancellation);
    }

    /// <summary>One request after the other; it receives nothing but replies.</summary>
    private static async Task AskAsync(
        ZlinkContext context, string[] endpoints, ConcurrentDictionary<string, long> counts, CancellationToken cancellation)
    {
        await using var gateway = new ServiceGateway(context, new StaticDirectory(
            endpoints.Select(static (endpoint, at) => new ServiceInstance(at == 0 ? Service : OtherService, endpoint))));
        gateway.GetClient(OtherService);
        Console.WriteLine(ServedCommand.Bound);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        Task asking = Task.Run(() => LoadAsync(gateway.GetClient(Service), counts, stop.Token), CancellationToken.None);
        await AnswerAsync(context, counts, asking, cancellation);
        await stop.CancelAsync();
        await asking;
    }

    private static async Task LoadAsync(ServiceClient client, ConcurrentDictionary<string, long> counts, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            try
            {
                using ServiceReply reply = await client.RequestAsync(new byte[64], s_timeout, stop);
                Count(counts, "done");
            }
            catch (Exception e) when (e is ServiceException or TimeoutException or OperationCanceledException)
            {
                Count(counts, "failed");
            }

            await Task.Delay(s_between, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private static async Task AnswerAsync(
        ZlinkContext context, ConcurrentDictionary<string, long> counts, Task work, CancellationToken cancellation)
    {
        while (await Console.In.ReadLineAsync(cancellation) is not null && !work.IsFaulted)
        {
            context.Pool.Trim();
            double heap = GC.GetTotalMemory(forceFullCollection: true) / BytesPerMebibyte;
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"{ServedCommand.State}{counts.GetValueOrDefault("done")} {heap:0.0} {counts.GetValueOrDefault("failed")}"));
        }
    }

    private static void Count(ConcurrentDictionary<string, long> counts, string what) =>
        counts.AddOrUpdate(what, 1, static (_, count) => count + 1);
}
