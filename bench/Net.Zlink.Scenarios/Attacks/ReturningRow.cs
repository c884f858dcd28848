using System.Diagnostics;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A client that comes, sends one request and goes, and comes again with the same routing id.</summary>
internal sealed class ReturningRow(string transport) : AttackRow($"returning-{transport}")
{
    private static readonly TimeSpan Settled = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan AnswerLimit = TimeSpan.FromMilliseconds(20);

    public static IEnumerable<ReturningRow> All { get; } = [new("tcp"), new("ipc"), new("ws")];

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var server = new AttackServer(transport);
        long written = 0;
        long counted = 0;
        long start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start) < time)
        {
            await using DealerSocket client = server.Connect(transport, "client-1"u8.ToArray());
            await client.SendAsync("request"u8.ToArray(), cancellation);
            await ReceiveAsync(client, cancellation);
            SocketStatistics statistics = client.GetStatistics();
            written += statistics.WrittenMessages;
            counted += statistics.UnconfirmedMessages;
        }

        start = Stopwatch.GetTimestamp();
        while (server.Received + counted < written && Stopwatch.GetElapsedTime(start) < Settled)
        {
            await Task.Delay(Look, cancellation);
        }

        return
        [
            new("written, not received and not counted", Math.Max(0, written - server.Received - counted), 0),
            new("written", written, null),
            new("unconfirmed", counted, null),
        ];
    }

    private static async Task ReceiveAsync(DealerSocket client, CancellationToken cancellation)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(AnswerLimit);
        try
        {
            using Message answer = await client.ReceiveAsync(limit.Token);
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            // It goes without its answer.
        }
    }
}
