using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Monitoring;

public sealed class EventStreamTests
{
    private readonly SocketMonitors _monitors = new();

    [Fact]
    public void A_subscription_gets_the_events_of_its_mask_in_order_from_the_call_on()
    {
        Assert.True(_monitors.IsEmpty);
        EventStream some = _monitors.Open(SocketEventTypes.Accepted | SocketEventTypes.Closed, Guard.Token);
        EventStream all = _monitors.Open(SocketEventTypes.All, Guard.Token);
        Publish(1, SocketEventTypes.Listening);
        _monitors.Publish(SocketEventTypes.Accepted, 2, "tcp://a", "tcp://b", 7, "why");
        Publish(3, SocketEventTypes.Closed);
        Assert.Equal([2, 3], ReadAll(some).Select(e => e.Value));
        List<SocketEvent> events = ReadAll(all);
        Assert.Equal([1, 2, 3], events.Select(e => e.Value));
        Assert.Equal(("tcp://a", "tcp://b", 7u, "why"),
            (events[1].LocalAddress, events[1].RemoteAddress, events[1].PeerId, events[1].Detail));
    }

    [Fact]
    public void When_nobody_reads_the_oldest_events_are_dropped_and_an_event_in_their_place_counts_them()
    {
        EventStream stream = _monitors.Open(SocketEventTypes.Accepted, Guard.Token);
        for (int i = 0; i < EventStream.Capacity + 10; i++)
        {
            Publish(i);
        }

        List<SocketEvent> events = ReadAll(stream);
        Assert.Equal(EventStream.Capacity + 1, events.Count);
        Assert.Equal((SocketEventTypes.EventsDropped, 10), (events[0].Type, events[0].Value));
        Assert.Equal((10, EventStream.Capacity + 9), (events[1].Value, events[^1].Value));
    }

    [Fact]
    public async Task The_stop_event_is_the_last_one_and_ends_the_events()
    {
        EventStream stream = _monitors.Open(SocketEventTypes.All, Guard.Token);
        Publish(1, SocketEventTypes.Listening);
        _monitors.Stop();
        Publish(2, SocketEventTypes.Closed);
        List<SocketEventTypes> types = [];
        await foreach (SocketEvent one in stream)
        {
            types.Add(one.Type);
        }

        Assert.Equal([SocketEventTypes.Listening, SocketEventTypes.MonitorStopped], types);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_wait_ends_with_the_socket_or_with_the_enumeration(bool disposes)
    {
        EventStream stream = _monitors.Open(SocketEventTypes.Listening, Guard.Token);
        ValueTask<bool> next = stream.MoveNextAsync();
        Assert.False(next.IsCompleted);
        if (disposes)
        {
            await stream.DisposeAsync();
            await stream.DisposeAsync();
            Assert.True(_monitors.IsEmpty);
        }
        else
        {
            _monitors.Stop();
        }

        Assert.False(await next);
        Assert.False(await stream.MoveNextAsync());
    }

    [Fact]
    public async Task A_wait_is_complete_as_soon_as_its_event_is_raised_and_goes_on_where_it_began()
    {
        EventStream stream = _monitors.Open(SocketEventTypes.All, Guard.Token);
        ValueTask<bool> next = stream.MoveNextAsync();
        Publish(1);
        Assert.True(next.IsCompletedSuccessfully && await next);

        var window = new Window();
        SynchronizationContext? before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(window);
        Task<long> read = ReadAsync(stream);
        SynchronizationContext.SetSynchronizationContext(before);
        Publish(2);
        Assert.Equal(2, await read);
        Assert.Equal(1, window.Posts);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_token_of_the_call_or_of_the_enumeration_ends_the_subscription(bool isOfCall)
    {
        using var stop = new CancellationTokenSource();
        EventStream stream = _monitors.Open(SocketEventTypes.All, isOfCall ? stop.Token : default);
        IAsyncEnumerator<SocketEvent> events = stream.GetAsyncEnumerator(isOfCall ? default : stop.Token);
        ValueTask<bool> next = events.MoveNextAsync();
        await stop.CancelAsync();
        Assert.Equal(stop.Token, (await Assert.ThrowsAnyAsync<OperationCanceledException>(() => next.AsTask())).CancellationToken);
        Assert.True(_monitors.IsEmpty);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => events.MoveNextAsync().AsTask());
    }

    [Fact]
    public async Task A_call_with_a_cancelled_token_subscribes_to_nothing()
    {
        EventStream stream = _monitors.Open(SocketEventTypes.All, new CancellationToken(canceled: true));
        Assert.True(_monitors.IsEmpty);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => stream.MoveNextAsync().AsTask());
    }

    [Fact]
    public void Events_are_enumerated_once()
    {
        EventStream stream = _monitors.Open(SocketEventTypes.All, Guard.Token);
        Assert.Same(stream, stream.GetAsyncEnumerator(TestContext.Current.CancellationToken));
        Assert.Throws<InvalidOperationException>(() => stream.GetAsyncEnumerator(TestContext.Current.CancellationToken));
    }

    [Fact]
    public void Nothing_is_written_behind_the_stop_event_while_others_publish()
    {
        // Many monitors, so that a publisher and the stop walk through them at the same time and cross.
        for (int round = 0; round < 60; round++)
        {
            var monitors = new SocketMonitors();
            EventStream[] all = [.. Enumerable.Range(0, 200).Select(_ => monitors.Open(SocketEventTypes.All))];
            void Publish()
            {
                while (!monitors.IsEmpty)
                {
                    monitors.Publish(SocketEventTypes.Accepted, 1, "", "");
                }
            }

            InParallel(Publish, Publish, monitors.Stop);
            Assert.All(all, stream => Assert.Equal(SocketEventTypes.MonitorStopped, ReadAll(stream)[^1].Type));
        }
    }

    [Fact]
    public async Task A_subscription_to_a_stopped_socket_has_nothing_to_say()
    {
        _monitors.Stop();
        _monitors.Stop();
        EventStream stream = _monitors.Open(SocketEventTypes.All, Guard.Token);
        Assert.False(await stream.MoveNextAsync());
        Assert.True(_monitors.IsEmpty);
    }

    [Fact]
    public void An_event_that_is_awaited_costs_no_allocation()
    {
        var reader = new EventReader(_monitors.Open(SocketEventTypes.All, Guard.Token));
        Assert.Equal(0, Allocations.Of(() =>
        {
            Assert.False(reader.TryRead(out _));
            Publish(1);
            Assert.True(reader.TryRead(out _));
        }));
    }

    private static List<SocketEvent> ReadAll(EventStream stream)
    {
        List<SocketEvent> events = [];
        using var reader = new EventReader(stream);
        while (reader.TryRead(out SocketEvent one))
        {
            events.Add(one);
        }

        return events;
    }

    private static async Task<long> ReadAsync(EventStream stream)
    {
        Assert.True(await stream.MoveNextAsync());
        return stream.Current.Value;
    }

    private void Publish(long value, SocketEventTypes type = SocketEventTypes.Accepted) => _monitors.Publish(type, value, "", "");

    /// <summary>Counts what is posted to it, and runs it on the pool.</summary>
    private sealed class Window : SynchronizationContext
    {
        private int _posts;

        public int Posts => Volatile.Read(ref _posts);

        public override void Post(SendOrPostCallback d, object? state)
        {
            Interlocked.Increment(ref _posts);
            base.Post(d, state);
        }
    }
}
