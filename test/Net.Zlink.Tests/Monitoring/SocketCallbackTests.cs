using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>Events by callback, and the instruments of ZMP sockets.</summary>
public sealed class SocketCallbackTests
{
    [Fact]
    public async Task A_callback_gets_the_events_in_order_on_the_thread_pool_and_never_on_a_shard_and_may_throw()
    {
        var log = new LogList();
        await using var context = new ZlinkContext(new ZlinkContextOptions { LoggerFactory = log });
        RouterSocket server = context.CreateRouter();
        using DealerSocket client = context.CreateDealer();
        var types = new ConcurrentQueue<SocketEventTypes>();
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int wrongThreads = 0;
        using IDisposable calls = server.OnEvent(NativeEvents.All, one =>
        {
            wrongThreads += Thread.CurrentThread.IsThreadPoolThread && ShardLoop.Current is null ? 0 : 1;
            types.Enqueue(one.Type);
            if (one.Type == SocketEventTypes.MonitorStopped)
            {
                done.SetResult();
            }

            throw new InvalidOperationException("the callback's own");
        });
        client.Connect(server.Bind("tcp://127.0.0.1:0"));
        client.Send("x"u8);
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        server.Dispose();
        await done.Task.Guarded();
        Assert.Equal([SocketEventTypes.Listening, SocketEventTypes.Accepted, SocketEventTypes.ConnectionReady, SocketEventTypes.Closed,
            SocketEventTypes.MonitorStopped], types);
        Assert.Equal(0, wrongThreads);
        Assert.True(log.Lines.Count(static l => l.Id.Id == 12 && l.Exception is InvalidOperationException) >= 4);
    }

    [Fact]
    public async Task A_disposed_callback_is_called_no_more()
    {
        await using var context = new ZlinkContext();
        using RouterSocket server = context.CreateRouter();
        var first = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int count = 0;
        IDisposable calls = server.OnEvent(SocketEventTypes.All, _ =>
        {
            count++;
            first.SetResult();
        });
        server.Bind("tcp://127.0.0.1:0");
        await first.Task.Guarded();
        calls.Dispose();
        calls.Dispose();
        server.Bind("tcp://127.0.0.1:0");
        using EventReader monitor = server.ReadEvents();
        server.Dispose();
        await foreach (SocketEvent one in monitor.ReadAllAsync(Guard.Token))
        {
            Assert.NotEqual(SocketEventTypes.Listening, one.Type);
        }

        Assert.Equal(1, count);
    }

    [Fact]
    public async Task Instruments_have_a_value_per_type_of_socket_and_counters_keep_what_closed_sockets_did()
    {
        await using var context = new ZlinkContext();
        var values = new Dictionary<string, long>(StringComparer.Ordinal);
        using MeterListener listener = Listen(context, values);

        PairSocket server = context.CreatePair();
        PairSocket client = context.CreatePair();
        RouterSocket router = context.CreateRouter();
        router.To("nobody"u8).Send("x"u8);
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        client.Connect(endpoint);
        for (int i = 0; i < 3; i++)
        {
            client.Send("x"u8);
        }

        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        listener.RecordObservableInstruments();
        Assert.Equal((2, 2, 1), (values["zlink.socket.count PAIR"], values["zlink.socket.peers PAIR"],
            values["zlink.socket.count ROUTER"]));
        Assert.Equal((3, 3, 0), (values["zlink.socket.received PAIR"], values["zlink.socket.delivered PAIR"],
            values["zlink.socket.unread PAIR"]));
        Assert.Equal((1, 1), (values["zlink.socket.connections PAIR accepted"], values["zlink.socket.connections PAIR dialled"]));
        Assert.Equal((1, 0), (values["zlink.socket.dropped ROUTER unroutable"], values["zlink.socket.dropped PAIR unroutable"]));
        Assert.Equal((0, 0), (values["zlink.socket.refused PAIR"], values["zlink.socket.failed_handshakes PAIR lost"]));
        Assert.True(values.ContainsKey("zlink.socket.sent_bytes PAIR") && values.ContainsKey("zlink.socket.queued PAIR")
            && values.ContainsKey("zlink.socket.dropped PAIR high_water_mark"));

        server.Dispose();
        client.Dispose();
        router.Dispose();
        await Guard.UntilAsync(() => context.GetStatistics().Sockets == 0, "the sockets end");

        listener.RecordObservableInstruments();
        Assert.Equal((0, 0, 3, 3, 1), (values["zlink.socket.count PAIR"], values["zlink.socket.peers PAIR"],
            values["zlink.socket.received PAIR"], values["zlink.socket.sent PAIR"], values["zlink.socket.dropped ROUTER unroutable"]));
    }

    [Fact]
    public async Task Failed_handshakes_are_counted_for_each_cause_that_statistics_tell_apart()
    {
        await using var context = new ZlinkContext();
        var values = new Dictionary<string, long>(StringComparer.Ordinal);
        using MeterListener listener = Listen(context, values);
        using var certificates = new TestCertificates();
        DealerSocket server = context.CreateDealer();
        server.Options.Tls.Certificate = certificates.Server;
        DealerSocket client = context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromHours(1) });
        client.Options.Tls.CaFile = "/nowhere/ca.crt";
        client.Connect(server.Bind("tls://127.0.0.1:0"));
        await Guard.UntilAsync(() => client.GetStatistics().HandshakeFailures.Total == 1, "the failed handshake is counted");
        listener.RecordObservableInstruments();
        Assert.Equal(1, values["zlink.socket.failed_handshakes DEALER certificate"]);
        string[] causes = [.. values.Keys.Where(static key =>
            key.StartsWith("zlink.socket.failed_handshakes DEALER ", StringComparison.Ordinal))];
        Assert.Equal(typeof(HandshakeFailureCounts).GetProperties().Length - 1, causes.Length); // All but their sum.
    }

    [Fact]
    public async Task Counters_of_STREAM_sockets_keep_what_closed_ones_did()
    {
        await using var context = new ZlinkContext();
        var values = new Dictionary<string, long>(StringComparer.Ordinal);
        using MeterListener listener = Listen(context, values);
        StreamSocket server = context.CreateStream();
        StreamSocket client = context.CreateStream();
        uint peer = await client.ConnectAsync(server.Bind("tcp://127.0.0.1:0"), Guard.Token).Guarded();
        client.To(peer).Send("x"u8, Guard.Limit);
        await server.NextConnectedAsync();
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        await Guard.UntilAsync(() => client.GetStatistics().WrittenMessages == 1, "what came has been counted where it was written, too");
        listener.RecordObservableInstruments();
        Assert.Equal((2, 1, 1),
            (values["zlink.socket.peers STREAM"], values["zlink.socket.received STREAM"], values["zlink.socket.sent STREAM"]));
        server.Dispose();
        client.Dispose();
        await Guard.UntilAsync(() => context.GetStatistics().Sockets == 0, "the sockets end");
        listener.RecordObservableInstruments();
        Assert.Equal((0, 1, 1),
            (values["zlink.socket.peers STREAM"], values["zlink.socket.received STREAM"], values["zlink.socket.sent STREAM"]));
    }

    /// <summary>Keeps the last value of each of the context's instruments, by name and tags.</summary>
    private static MeterListener Listen(ZlinkContext context, Dictionary<string, long> values)
    {
        var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (ReferenceEquals(instrument.Meter.Scope, context))
            {
                l.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) =>
        {
            string key = instrument.Name;
            foreach (KeyValuePair<string, object?> tag in tags)
            {
                key += $" {tag.Value}";
            }

            values[key] = value;
        });
        listener.Start();
        return listener;
    }

    /// <summary>Keeps log lines.</summary>
    private sealed class LogList : ILoggerFactory, ILogger
    {
        public ConcurrentQueue<(EventId Id, Exception? Exception)> Lines { get; } = new();

        public ILogger CreateLogger(string categoryName) => this;

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?,
            string> formatter) => Lines.Enqueue((eventId, exception));

        public void Dispose()
        {
        }
    }
}
