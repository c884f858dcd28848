using Net.Zlink.Monitoring;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Monitoring;

public sealed class SocketMonitorTests
{
    [Fact]
    public void A_monitor_gets_the_events_of_its_mask_in_order()
    {
        var monitors = new SocketMonitors();
        Assert.True(monitors.IsEmpty);
        using SocketMonitor some = monitors.Open(SocketEventTypes.Accepted | SocketEventTypes.Closed);
        using SocketMonitor all = monitors.Open(SocketEventTypes.All);
        monitors.Publish(SocketEventTypes.Listening, 1, "tcp://a", "");
        monitors.Publish(SocketEventTypes.Accepted, 2, "tcp://a", "tcp://b", 7, "why");
        monitors.Publish(SocketEventTypes.Closed, 3, "tcp://a", "");
        Assert.Equal([2, 3], ReadAll(some).Select(e => e.Value));
        List<SocketEvent> events = ReadAll(all);
        Assert.Equal([1, 2, 3], events.Select(e => e.Value));
        Assert.Equal(("tcp://a", "tcp://b", 7u, "why"),
            (events[1].LocalAddress, events[1].RemoteAddress, events[1].PeerId, events[1].Detail));
    }

    [Fact]
    public void When_nobody_reads_the_oldest_events_are_dropped_and_counted()
    {
        var monitors = new SocketMonitors();
        using SocketMonitor monitor = monitors.Open(SocketEventTypes.All);
        for (int i = 0; i < SocketMonitor.Capacity + 10; i++)
        {
            monitors.Publish(SocketEventTypes.Accepted, i, "", "");
        }

        Assert.Equal(10, monitor.Dropped);
        List<SocketEvent> events = ReadAll(monitor);
        Assert.Equal(SocketMonitor.Capacity, events.Count);
        Assert.Equal((10, SocketMonitor.Capacity + 9), (events[0].Value, events[^1].Value));
    }

    [Fact]
    public async Task The_stop_event_is_the_last_one_and_ends_the_stream()
    {
        var monitors = new SocketMonitors();
        SocketMonitor monitor = monitors.Open(SocketEventTypes.All);
        monitors.Publish(SocketEventTypes.Listening, 1, "", "");
        monitors.Stop();
        monitors.Publish(SocketEventTypes.Closed, 2, "", "");
        List<SocketEventTypes> types = [];
        await foreach (SocketEvent one in monitor.ReadAllAsync(TestContext.Current.CancellationToken))
        {
            types.Add(one.Type);
        }

        Assert.Equal([SocketEventTypes.Listening, SocketEventTypes.MonitorStopped], types);
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await monitor.ReadAsync(TestContext.Current.CancellationToken));
        monitor.Dispose();
    }

    [Fact]
    public async Task A_read_that_waits_for_the_end_is_told_of_it_as_by_a_socket()
    {
        var monitors = new SocketMonitors();
        using SocketMonitor monitor = monitors.Open(SocketEventTypes.Listening);
        Task<SocketEvent> asTask = monitor.ReadAsync(TestContext.Current.CancellationToken).AsTask();
        Task<SocketEvent> awaited = AwaitAsync(monitor, TestContext.Current.CancellationToken);
        Assert.False(asTask.IsCompleted || awaited.IsCompleted);

        monitors.Stop();

        foreach (Task<SocketEvent> read in new[] { asTask, awaited, AwaitAsync(monitor, TestContext.Current.CancellationToken) })
        {
            var end = await Assert.ThrowsAsync<ObjectDisposedException>(() => read);
            Assert.Equal(typeof(SocketMonitor).FullName, end.ObjectName);
        }
    }

    [Fact]
    public async Task A_read_that_waits_goes_on_with_its_event_where_it_began_and_ends_with_its_token()
    {
        var monitors = new SocketMonitors();
        using SocketMonitor monitor = monitors.Open(SocketEventTypes.All);
        var window = new Window();
        SynchronizationContext? before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(window);
        Task<SocketEvent> read = AwaitAsync(monitor, TestContext.Current.CancellationToken);
        SynchronizationContext.SetSynchronizationContext(before);

        monitors.Publish(SocketEventTypes.Listening, 1, "", "");

        Assert.Equal(1, (await read).Value);
        Assert.Equal(1, window.Posts);
        using var limit = new CancellationTokenSource();
        Task<SocketEvent> cancelled = AwaitAsync(monitor, limit.Token);
        await limit.CancelAsync();
        var end = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        Assert.Equal(limit.Token, end.CancellationToken);
    }

    [Fact]
    public void Nothing_is_written_behind_the_stop_event_while_others_publish()
    {
        // Many monitors, so that a publisher and the stop walk through them at the same time and cross.
        for (int round = 0; round < 60; round++)
        {
            var monitors = new SocketMonitors();
            SocketMonitor[] all = [.. Enumerable.Range(0, 200).Select(_ => monitors.Open(SocketEventTypes.All))];
            void Publish()
            {
                while (!monitors.IsEmpty)
                {
                    monitors.Publish(SocketEventTypes.Accepted, 1, "", "");
                }
            }

            InParallel(Publish, Publish, monitors.Stop);
            Assert.All(all, monitor => Assert.Equal(SocketEventTypes.MonitorStopped, ReadAll(monitor)[^1].Type));
        }
    }

    [Fact]
    public void A_disposed_monitor_gets_no_more_but_keeps_what_it_has()
    {
        var monitors = new SocketMonitors();
        SocketMonitor monitor = monitors.Open(SocketEventTypes.All);
        monitors.Publish(SocketEventTypes.Accepted, 1, "", "");
        monitor.Dispose();
        monitor.Dispose();
        Assert.True(monitors.IsEmpty);
        monitors.Publish(SocketEventTypes.Accepted, 2, "", "");
        Assert.Equal([1], ReadAll(monitor).Select(e => e.Value));
    }

    [Fact]
    public void A_monitor_opened_on_a_stopped_socket_has_nothing_to_say()
    {
        var monitors = new SocketMonitors();
        monitors.Stop();
        monitors.Stop();
        using SocketMonitor monitor = monitors.Open(SocketEventTypes.All);
        Assert.Empty(ReadAll(monitor));
        Assert.True(monitors.IsEmpty);
    }

    [Theory]
    [InlineData(DisconnectReason.Unknown, 0)]
    [InlineData(DisconnectReason.Local, 0)]
    [InlineData(DisconnectReason.Remote, 4)]
    [InlineData(DisconnectReason.ProtocolError, 3)]
    [InlineData(DisconnectReason.TransportError, 4)]
    [InlineData(DisconnectReason.ContextTerminated, 5)]
    [InlineData(DisconnectReason.IdleTimeout, 4)]
    [InlineData(DisconnectReason.WriteTimeout, 4)]
    [InlineData(DisconnectReason.HandlerFailed, 3)]
    public void Reasons_have_native_numbers(DisconnectReason reason, long native) => Assert.Equal(native, reason.ToNativeReason());

    private static List<SocketEvent> ReadAll(SocketMonitor monitor)
    {
        List<SocketEvent> events = [];
        while (monitor.TryRead(out SocketEvent one))
        {
            events.Add(one);
        }

        return events;
    }

    private static async Task<SocketEvent> AwaitAsync(SocketMonitor monitor, CancellationToken cancellation) =>
        await monitor.ReadAsync(cancellation);

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
