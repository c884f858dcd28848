using System.Text;
using System.Threading.Channels;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>What the queue of publications takes, in number and in bytes, and what it does when it is full.</summary>
public class PublishQueueTests
{
    private const int Size = 100;

    private readonly TopicIndex _index = new(static _ => { }, static _ => { });
    private readonly List<string> _published = [];

    [Theory]
    [InlineData(BoundedChannelFullMode.Wait, false, "1 2", 0)]
    [InlineData(BoundedChannelFullMode.DropWrite, true, "1 2", 1)]
    [InlineData(BoundedChannelFullMode.DropNewest, true, "1 3", 1)]
    [InlineData(BoundedChannelFullMode.DropOldest, true, "2 3", 1)]
    public async Task Beyond_its_bytes_or_its_number_it_does_what_its_mode_says(
        BoundedChannelFullMode mode, bool isAccepted, string published, int dropped)
    {
        foreach (SpotNodeOptions limits in (SpotNodeOptions[])
            [
                new() { PublishQueueCapacity = 100, PublishQueueByteLimit = (2 * Size) + (Size / 2) },
                new() { PublishQueueCapacity = 2 },
            ])
        {
            await using var fixture = new ContextFixture();
            _published.Clear();
            PublishQueue queue = NewQueue(fixture, limits.With(options => options.PublishQueueFullMode = mode));
            Assert.True(TryEnqueue(fixture, queue, "1"));
            Assert.True(TryEnqueue(fixture, queue, "2"));
            Assert.Equal(isAccepted, TryEnqueue(fixture, queue, "3"));
            Assert.Equal((2, dropped), (queue.Count, queue.Dropped));
            queue.Complete();
            await RunAsync(queue);
            Assert.Equal(published, string.Join(' ', _published));
        }
    }

    [Fact]
    public async Task A_publication_larger_than_the_limit_fits_into_an_empty_queue_and_those_that_wait_keep_their_order()
    {
        await using var fixture = new ContextFixture();
        PublishQueue queue = NewQueue(fixture, new SpotNodeOptions { PublishQueueCapacity = 100, PublishQueueByteLimit = Size });
        Assert.True(TryEnqueue(fixture, queue, "1", 10 * Size));
        using var patience = new CancellationTokenSource();
        Message kept = NewMessage(fixture, "kept", 3 * Size);
        Task cancelled = queue.EnqueueAsync(kept, Topic(), patience.Token).AsTask();
        Task[] waiting = [.. Enumerable.Range(2, 20).Select(
            i => queue.EnqueueAsync(NewMessage(fixture, $"{i}", Size), Topic(), CancellationToken.None).AsTask())];
        Assert.False(TryEnqueue(fixture, queue, "none", 1)); // It would overtake them.
        Assert.All(waiting, static one => Assert.False(one.IsCompleted));
        await patience.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.Guarded());
        Assert.Equal(3 * Size, kept.ByteCount); // It is the caller's.
        kept.Dispose();
        Task running = RunAsync(queue);
        await Task.WhenAll(waiting).Guarded();
        queue.Complete();
        await running.Guarded();
        Assert.Equal(Enumerable.Range(1, 21).Select(static i => $"{i}"), _published, StringComparer.Ordinal);
    }

    [Fact]
    public async Task What_waits_counts_in_the_limit_of_the_context_until_it_is_published_or_dropped()
    {
        const int Limit = 1024 * 1024;
        const int Large = 100 * 1024;
        await using var fixture = new ContextFixture(queuedByteLimit: Limit);
        PublishQueue queue = NewQueue(fixture, new SpotNodeOptions { PublishQueueCapacity = 100 });
        int accepted = 0;
        while (TryEnqueue(fixture, queue, "x", Large))
        {
            accepted++;
        }

        Assert.InRange(accepted, 8, 11); // 64 KiB are free.
        Assert.False(fixture.Context.TryReserveQueuedBytes(Large));
        Task waits = queue.EnqueueAsync(NewMessage(fixture, "x", Large), Topic(), CancellationToken.None).AsTask();
        Task running = RunAsync(queue);
        await waits.Guarded();
        await Guard.UntilAsync(() => queue.Count == 0, "all is published");
        Assert.True(fixture.Context.TryReserveQueuedBytes(Limit));
        fixture.Context.ReleaseQueuedBytes(Limit);
        queue.Complete();
        await running.Guarded();
        Assert.False(TryEnqueue(fixture, queue, "late"));

        PublishQueue dropping = NewQueue(fixture, new SpotNodeOptions { PublishQueueCapacity = 100 });
        Assert.True(TryEnqueue(fixture, dropping, "x", Large));
        Assert.True(TryEnqueue(fixture, dropping, "x", Large));
        dropping.DropAll();
        Assert.Equal((2, 0), (dropping.Dropped, dropping.Count));
        Message late = NewMessage(fixture, "late", 1);
        await Assert.ThrowsAsync<ObjectDisposedException>(
            () => dropping.EnqueueAsync(late, Topic(), CancellationToken.None).AsTask().Guarded());
        late.Dispose();
    }

    [Fact]
    public async Task A_publication_that_fails_is_dropped_and_the_next_run_publishes_those_behind_it()
    {
        await using var fixture = new ContextFixture();
        PublishQueue queue = NewQueue(fixture, new SpotNodeOptions { PublishQueueCapacity = 100 });
        Assert.All(["1", "fails", "3"], text => Assert.True(TryEnqueue(fixture, queue, text)));
        await Assert.ThrowsAsync<IOException>(() => queue.RunAsync(Guard.Token).AsTask().Guarded());
        queue.Complete();
        await RunAsync(queue);
        Assert.Equal(["1", "3"], _published);
        Assert.Equal(1, queue.Dropped);
    }

    private PublishQueue NewQueue(ContextFixture fixture, SpotNodeOptions options) =>
        new(options, fixture.Context, _index, (message, _, _) =>
        {
            using (message)
            {
                string text = message.GetString(1).TrimEnd();
                if (text is "fails")
                {
                    throw new IOException();
                }

                _published.Add(text);
                return ValueTask.CompletedTask;
            }
        });

    private static Task RunAsync(PublishQueue queue) =>
        Assert.ThrowsAsync<ObjectDisposedException>(() => Task.Run(() => queue.RunAsync(Guard.Token).AsTask()).Guarded());

    private bool TryEnqueue(ContextFixture fixture, PublishQueue queue, string text, int size = Size)
    {
        Message message = NewMessage(fixture, text, size);
        bool isAccepted = queue.TryEnqueue(message, Topic());
        if (!isAccepted)
        {
            message.Dispose();
        }

        return isAccepted;
    }

    private static Message NewMessage(ContextFixture fixture, string text, int size)
    {
        using var builder = new MessageBuilder(fixture.Pool);
        return builder.Add("t").Add(Encoding.UTF8.GetBytes(text.PadRight(size - 1))).ToMessage();
    }

    private TopicEntry Topic() => _index.Find("t"u8);
}
