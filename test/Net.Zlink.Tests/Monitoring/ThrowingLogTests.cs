using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>A log that fails, as the application's code may: it costs its own lines, and nothing else.</summary>
public sealed class ThrowingLogTests
{
    private static ZlinkContext NewContext() => new(new ZlinkContextOptions { LoggerFactory = new ThrowingLogs() });

    [Fact]
    public async Task Holds_up_no_shutdown_behind_a_handshake_that_failed()
    {
        ZlinkContext context = NewContext();
        using (RawPeer peer = await RawPeer.ConnectAsync(
            context.CreateDealer().Bind("ws://127.0.0.1:0").Replace("ws:", "tcp:", StringComparison.Ordinal).TrimEnd('/')))
        {
            await peer.SendAsync("complete nonsense here"u8.ToArray());
            await peer.ReadToAnyEndAsync();
        }

        await EndAsync(context);
    }

    [Fact]
    public async Task Holds_up_no_shutdown_behind_an_endpoint_that_gave_up()
    {
        ZlinkContext context = NewContext();
        DealerSocket dealer = context.CreateDealer();
        using EventReader monitor = dealer.ReadEvents();
        dealer.Connect(context.CreatePub().Bind("tcp://127.0.0.1:0"));

        await monitor.NextAsync(SocketEventTypes.Disconnected); // A publisher does not talk to it.
        await EndAsync(context);
    }

    [Fact]
    public async Task Holds_up_no_shutdown_behind_messages_that_were_dropped()
    {
        ZlinkContext context = NewContext();
        using var listener = new RawListener();
        DealerSocket dealer = context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        dealer.Connect(listener.Endpoint);
        Assert.True(dealer.TrySend("x"u8));

        await EndAsync(context);
    }

    [Fact]
    public async Task Keeps_no_stream_peers_end_from_the_application()
    {
        ZlinkContext context = NewContext();
        StreamSocket socket = context.CreateStream();
        using (await RawPeer.ConnectAsync(socket.Bind("tcp://127.0.0.1:0")))
        {
            await socket.NextConnectedAsync();
        }

        using StreamMessage end = socket.Receive(Guard.Limit);
        Assert.Equal(StreamMessageKind.Disconnected, end.Kind);
        await EndAsync(context);
    }

    [Fact]
    public async Task Keeps_no_disconnect_from_ending_the_connection()
    {
        ZlinkContext context = NewContext();
        StreamSocket socket = context.CreateStream();
        using RawPeer peer = await RawPeer.ConnectAsync(socket.Bind("tcp://127.0.0.1:0"));

        socket.Disconnect(await socket.NextConnectedAsync());

        await peer.ReadToAnyEndAsync();
        await EndAsync(context);
    }

    [Fact]
    public async Task Keeps_no_failed_handlers_peer_open()
    {
        ZlinkContext context = NewContext();
        var handler = new TestHandler
        {
            Received = static async (_, _) =>
            {
                await Task.Yield();
                throw new InvalidOperationException("handler");
            },
        };
        using RawPeer peer = await RawPeer.ConnectAsync(context.CreateStream().Bind("tcp://127.0.0.1:0", handler));

        await peer.SendFrameAsync(1);

        await peer.ReadToAnyEndAsync();
        await EndAsync(context);
    }

    [Fact]
    public async Task Keeps_no_failed_pipe_open()
    {
        ZlinkContext context = NewContext();
        using RawPeer peer = await RawPeer.ConnectAsync(
            context.CreateStream().BindPipe("tcp://127.0.0.1:0", static _ => throw new InvalidOperationException("handler")));

        await peer.ReadToAnyEndAsync();
        await EndAsync(context);
    }

    private static async Task EndAsync(ZlinkContext context) => await context.ShutdownAsync(TimeSpan.FromSeconds(1), Guard.Token).Guarded();

    private sealed class ThrowingLogs : ILoggerFactory, ILogger
    {
        public void AddProvider(ILoggerProvider provider)
        {
        }

        public ILogger CreateLogger(string categoryName) => this;

        public void Dispose()
        {
        }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?,
            string> formatter) => throw new InvalidOperationException("the log is full");
    }
}
