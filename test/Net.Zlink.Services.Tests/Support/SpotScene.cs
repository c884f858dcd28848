using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>One test's context and its SPOT nodes; disposal fails the test if a buffer did not come back.</summary>
internal sealed class SpotScene(TimeProvider? clock = null) : IAsyncDisposable
{
    private readonly List<SpotNode> _nodes = [];

    public ContextFixture Fixture { get; } = new(time: clock);

    public ZlinkContext Context => Fixture.Context;

    public SpotNode Create(SpotNodeOptions? options = null)
    {
        var node = new SpotNode(Context, options);
        _nodes.Add(node);
        return node;
    }

    /// <summary>A bound node, and one that is connected to it.</summary>
    public async Task<(SpotNode Publishing, SpotNode Subscribing)> PairAsync(
        string endpoint = "tcp://127.0.0.1:*", SpotNodeOptions? publishing = null, SpotNodeOptions? subscribing = null)
    {
        SpotNode a = Create(publishing);
        SpotNode b = Create(subscribing);
        b.Connect(a.Bind(endpoint));
        await b.WaitForPeersAsync(1, Guard.Token).Guarded();
        return (a, b);
    }

    /// <summary>Waits until what is published at one node under a topic reaches the other: its filter has arrived. What was published for
    /// that was received.</summary>
    public async Task UntilFilteredAsync(SpotNode publishing, SpotSubscriber subscriber, string topic)
    {
        byte[] mark = Guid.NewGuid().ToByteArray();
        int sent = 0;
        SpotMessage first;
        while (!subscriber.TryReceive(out first))
        {
            sent += publishing.TryPublish(topic, mark) ? 1 : 0;
            await Fixture.Context.WhenIdleAsync().Guarded();
            await Task.Yield();
        }

        // Those that were published before the filter came are missing: read until the last one.
        byte[] last = Guid.NewGuid().ToByteArray();
        Assert.True(publishing.TryPublish(topic, last));
        while (!first.Span.SequenceEqual(last))
        {
            first.Dispose();
            first = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        }

        first.Dispose();
    }

    /// <summary>The next message: its topic and its parts as text.</summary>
    public static async Task<(string Topic, string Parts)> ReceiveAsync(SpotSubscriber subscriber)
    {
        using SpotMessage message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        return (message.Topic, PartsOf(message));
    }

    public static string PartsOf(SpotMessage message) =>
        string.Join('|', Enumerable.Range(0, message.PartCount).Select(message.GetString));

    public static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    /// <summary>matched = received + dropped + queued.</summary>
    public static void AssertCounts(SpotSubscriberStatistics counts) =>
        Assert.Equal(counts.Matched, counts.Received + counts.Dropped + counts.Queued);

    public async ValueTask DisposeAsync()
    {
        foreach (SpotNode node in _nodes)
        {
            await node.DisposeAsync().Guarded();
        }

        await Fixture.DisposeAsync();
    }
}
