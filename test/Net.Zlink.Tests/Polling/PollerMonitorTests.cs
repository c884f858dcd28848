using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Polling;

/// <summary>Monitors among the items of a poller.</summary>
public sealed class PollerMonitorTests : PollerTestBase
{
    [Fact]
    public async Task A_poll_that_waits_is_ended_by_an_event_and_the_monitor_stays_ready_until_it_is_read()
    {
        PairSocket socket = Context.CreatePair();
        using SocketMonitor monitor = socket.OpenMonitor(SocketEventTypes.Listening);
        Poller.Add(socket, PollEvents.In);
        Poller.Add(monitor, "the monitor");
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
        Task<int> blocked = Task.Run(() => Poller.Poll(Results, Guard.Limit), Guard.Token);
        var others = new PollResult[1];
        ValueTask<int> waiting = Poller.PollAsync(others, Guard.Token);
        socket.Bind("tcp://127.0.0.1:0");
        Assert.Equal(1, await blocked.Guarded());
        Assert.Equal(1, await waiting.Guarded());
        Assert.Equal((monitor, (ZmpSocket?)null, PollEvents.In, "the monitor"),
            (others[0].Monitor, others[0].Socket, others[0].Events, others[0].UserState));
        Assert.Equal(others[0], Results[0]);
        Assert.Equal(1, Poller.Poll(Results, TimeSpan.Zero));
        Assert.True(monitor.TryRead(out SocketEvent listening));
        Assert.Equal(SocketEventTypes.Listening, listening.Type);
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
    }

    [Fact]
    public async Task The_end_of_its_socket_is_the_last_event_and_behind_it_the_monitor_is_never_ready()
    {
        PairSocket socket = Context.CreatePair();
        using SocketMonitor monitor = socket.OpenMonitor();
        Poller.Add(monitor);
        ValueTask<int> waiting = Poller.PollAsync(Results, Guard.Token);
        socket.Dispose();
        Assert.Equal(1, await waiting.Guarded());
        Assert.True(monitor.TryRead(out SocketEvent stopped));
        Assert.Equal(SocketEventTypes.MonitorStopped, stopped.Type);
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
    }

    [Fact]
    public void A_monitor_is_added_once_and_reported_no_more_when_it_was_taken_out()
    {
        PairSocket socket = Context.CreatePair();
        using SocketMonitor monitor = socket.OpenMonitor(SocketEventTypes.Listening);
        Poller.Add(monitor);
        Assert.Contains("this monitor", Assert.Throws<ArgumentException>(() => Poller.Add(monitor)).Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentNullException>(() => Poller.Add((SocketMonitor)null!));
        Assert.Throws<ArgumentNullException>(() => Poller.Remove((SocketMonitor)null!));
        socket.Bind("inproc://polled-monitor");
        socket.Bind("tcp://127.0.0.1:0");
        Assert.Equal(1, Poller.Poll(Results, TimeSpan.Zero));
        Assert.True(Poller.Remove(monitor));
        Assert.False(Poller.Remove(monitor));
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
        Assert.Equal(0, Poller.Count);
    }

    [Fact]
    public async Task No_event_is_missed_by_a_loop_that_polls_and_reads()
    {
        const int Rounds = 300;
        PairSocket socket = Context.CreatePair();
        using SocketMonitor monitor = socket.OpenMonitor(SocketEventTypes.Listening);
        Poller.Add(monitor);
        Task binding = Task.Run(
            () =>
            {
                for (int i = 0; i < Rounds; i++)
                {
                    socket.Unbind(socket.Bind("tcp://127.0.0.1:0"));
                }
            },
            Guard.Token);
        int seen = 0;
        while (seen < Rounds)
        {
            Assert.Equal(1, await Poller.PollAsync(Results, Guard.Token).Guarded());
            while (monitor.TryRead(out _))
            {
                seen++;
            }
        }

        await binding.Guarded();
        Assert.Equal(Rounds, seen);
    }
}
