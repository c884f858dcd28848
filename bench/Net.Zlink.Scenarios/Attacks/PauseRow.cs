using System.Diagnostics;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A server that is stopped for twice its heartbeat timeout, while a client sends every 5 ms.</summary>
internal sealed class PauseRow(string transport) : AttackRow($"pause-{transport}")
{
    // Of a round of 10 s: heartbeats of 1 s and 3 s, stopped from the second to the eighth second.
    private const double IntervalShare = 0.1;
    private const double RunningShare = 0.2;
    private const double StoppedShare = 0.6;

    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan Settled = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(200);

    public static IEnumerable<PauseRow> All { get; } = [new("tcp"), new("ws"), new("ipc")];

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        TimeSpan heartbeat = time * IntervalShare;
        await using ServedProcess server = await ServedProcess.StartAsync(transport, heartbeat, heapLimit: 0, cancellation);
        await using var context = new ZlinkContext(new ZlinkContextOptions { DefaultLinger = TimeSpan.Zero });
        DealerSocket client = context.CreateDealer();
        (client.Options.HeartbeatInterval, client.Options.HeartbeatTimeout) = (heartbeat, Heartbeats.TimeoutOf(heartbeat));
        client.Connect(server.Endpoint);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        Task sending = SendAsync(client, stop.Token);
        await Task.Delay(time * RunningShare, cancellation);
        await server.StopAsync(cancellation);
        await Task.Delay(time * StoppedShare, cancellation);
        await server.ResumeAsync(cancellation);
        await Task.Delay(time * RunningShare, cancellation);
        await stop.CancelAsync();
        await sending;

        long start = Stopwatch.GetTimestamp();
        SocketStatistics sent;
        long lost;
        do
        {
            await Task.Delay(Look, cancellation);
            ServedState state = await server.AskAsync(cancellation) ?? throw new InvalidOperationException("the server has ended");
            sent = client.GetStatistics();
            lost = sent.AcceptedMessages - state.Received - sent.DroppedMessages - sent.UnconfirmedMessages;
        }
        while (lost > 0 && Stopwatch.GetElapsedTime(start) < Settled);

        return
        [
            new("lost and not counted", Math.Max(0, lost), 0),
            new("dropped or unconfirmed", sent.DroppedMessages + sent.UnconfirmedMessages, null),
            new("sent", sent.AcceptedMessages, null),
        ];
    }

    private static async Task SendAsync(DealerSocket client, CancellationToken stop)
    {
        try
        {
            while (true)
            {
                await client.SendAsync("tick"u8.ToArray(), stop);
                await Task.Delay(Between, stop);
            }
        }
        catch (OperationCanceledException)
        {
            // The round is over.
        }
    }
}
