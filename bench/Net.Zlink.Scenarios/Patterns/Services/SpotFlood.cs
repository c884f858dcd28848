using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Services;

/// <summary>A node that publishes under many topics in turn, and one whose only subscriber has a subscription for each.</summary>
internal sealed class SpotFlood : IAsyncDisposable
{
    public const int Size = 64;

    private const int BatchSize = 64;

    private readonly SpotNode _publishing;
    private readonly SpotNode _subscribing;
    private readonly SpotSubscriber _subscriber;
    private readonly SpotPublisher[] _publishers;
    private readonly byte[] _payload = new byte[Size];

    private SpotFlood(ZlinkContext context, int texts, bool arePrefixes)
    {
        _publishing = new SpotNode(context, new SpotNodeOptions { PublisherSocket = { NoDrop = true } });
        _subscribing = new SpotNode(context);
        _subscribing.Connect(_publishing.Bind(CostCommand.Endpoint));
        _subscriber = _subscribing.CreateSubscriber(new SpotSubscriberOptions { Capacity = int.MaxValue, ByteLimit = long.MaxValue });
        _publishers = new SpotPublisher[texts];
        for (int i = 0; i < texts; i++)
        {
            string text = string.Create(CultureInfo.InvariantCulture, $"zone:{i:00000}:");
            string topic = arePrefixes ? text + "now" : text;
            Action<string> subscribe = arePrefixes ? _subscriber.SubscribePrefix : _subscriber.Subscribe;
            subscribe(text);
            _publishers[i] = _publishing.CreatePublisher(topic);
        }
    }

    public static async Task<SpotFlood> CreateAsync(ZlinkContext context, int texts, bool arePrefixes, CancellationToken cancellation)
    {
        var flood = new SpotFlood(context, texts, arePrefixes);

        // The subscriptions travel in order: when the last one has arrived, all have.
        while (flood._subscriber.GetStatistics().Matched == 0)
        {
            flood._publishers[^1].TryPublish(flood._payload);
            await Task.Delay(1, cancellation);
        }

        await flood.DrainAsync(cancellation);
        return flood;
    }

    public async ValueTask DisposeAsync()
    {
        await _subscribing.DisposeAsync();
        await _publishing.DisposeAsync();
    }

    /// <summary>Messages a second, from before the first publish until the last was received.</summary>
    public async Task<double> RateAsync(int count, bool batch, CancellationToken cancellation)
    {
        int all = count / BatchSize * BatchSize;
        long start = Stopwatch.GetTimestamp();
        Task publishing = Task.Factory.StartNew(
            () => Publish(all, batch, cancellation), cancellation, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        await Task.Run(() => ReceiveAsync(all, batch, cancellation), cancellation);
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        await publishing;
        return all / seconds;
    }

    private async Task DrainAsync(CancellationToken cancellation)
    {
        byte[] last = [1];
        while (!_publishers[^1].TryPublish(last))
        {
            await Task.Yield();
        }

        for (bool isLast = false; !isLast;)
        {
            using SpotMessage message = await _subscriber.ReceiveAsync(cancellation);
            isLast = message.Span.Length == last.Length;
        }
    }

    private void Publish(int count, bool batch, CancellationToken cancellation)
    {
        ReadOnlyMemory<byte>[] payloads = new ReadOnlyMemory<byte>[BatchSize];
        Array.Fill(payloads, _payload);
        for (int i = 0; i < count;)
        {
            SpotPublisher publisher = _publishers[i % _publishers.Length];
            int accepted = batch ? publisher.PublishMany(payloads.AsSpan(0, Math.Min(BatchSize, count - i)))
                : publisher.TryPublish(_payload) ? 1 : 0;
            i += accepted;
            if (accepted == 0)
            {
                cancellation.ThrowIfCancellationRequested();
                Thread.Yield();
            }
        }
    }

    private async Task ReceiveAsync(int count, bool batch, CancellationToken cancellation)
    {
        SpotMessage[] messages = new SpotMessage[batch ? BatchSize : 1];
        for (int received = 0; received < count;)
        {
            int some = 1;
            if (batch)
            {
                some = await _subscriber.ReceiveManyAsync(messages, cancellation);
            }
            else
            {
                messages[0] = await _subscriber.ReceiveAsync(cancellation);
            }

            foreach (SpotMessage message in messages.AsSpan(0, some))
            {
                message.Dispose();
            }

            received += some;
        }
    }
}
