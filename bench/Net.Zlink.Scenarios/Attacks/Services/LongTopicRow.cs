using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>A publisher that sends topics of 16 MB to a SPOT node that subscribes to everything.</summary>
internal sealed class LongTopicRow() : AttackRow("services-long-topic")
{
    private const int TopicSize = 16 << 20;
    private const int Topics = 6;
    private const double BytesPerMebibyte = 1 << 20;
    private const double MostMegabytes = 24;

    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(20);

    public override async Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        await using var attackers = new ZlinkContext();
        PubSocket publisher = attackers.CreatePub();
        await using var node = new SpotNode(context);
        node.Connect(publisher.Bind("tcp://127.0.0.1:*"));
        await using SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.SubscribePrefix("");
        await node.WaitForPeersAsync(1, cancellation);
        double before = HeapMegabytes(context);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(s_limit);
        while (node.GetStatistics().Filters == 0 || publisher.GetPeers().Count == 0)
        {
            await Task.Delay(1, limit.Token);
        }

        int received = 0;
        byte[] topic = [.. Enumerable.Repeat((byte)'t', TopicSize)];
        for (int i = 0; i < Topics; i++)
        {
            topic[0] = (byte)('a' + i);
            Send(publisher, topic);
        }

        // What comes behind them is taken as before.
        while (received == 0)
        {
            Send(publisher, "short"u8.ToArray());
            await Task.Delay(1, limit.Token);
            while (subscriber.TryReceive(out SpotMessage message))
            {
                using (message)
                {
                    received += message.TopicBytes.Span.SequenceEqual("short"u8) ? 1 : 0;
                }
            }
        }

        await publisher.DisposeAsync();
        return
        [
            new("memory kept, MB", Math.Max(0, HeapMegabytes(context) - before), MostMegabytes),
            new("topics counted as too long", node.GetStatistics().LongTopics, Topics, AtLeast: true),
            new("honest messages behind them", received, 1, AtLeast: true),
        ];
    }

    private static void Send(PubSocket publisher, byte[] topic)
    {
        using var message = new MessageBuilder();
        publisher.Send(message.Add(topic).Add("text"u8));
    }

    private static double HeapMegabytes(ZlinkContext context)
    {
        context.Pool.Trim();
        return GC.GetTotalMemory(forceFullCollection: true) / BytesPerMebibyte;
    }
}
