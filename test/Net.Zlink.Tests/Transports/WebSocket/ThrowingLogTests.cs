using Microsoft.Extensions.Logging;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>A log that fails, as the application's code may.</summary>
public sealed class ThrowingLogTests
{
    [Fact]
    public async Task Holds_up_no_shutdown_behind_a_handshake_that_failed()
    {
        var context = new ZlinkContext(new ZlinkContextOptions { LoggerFactory = new ThrowingLogs() });
        using (RawPeer peer = await RawPeer.ConnectAsync(context.CreateDealer().Bind("ws://127.0.0.1:0").Replace("ws:", "tcp:", StringComparison.Ordinal).TrimEnd('/')))
        {
            await peer.SendAsync("complete nonsense here"u8.ToArray());
            await peer.ReadToAnyEndAsync();
        }

        await context.ShutdownAsync(TimeSpan.FromSeconds(1), Guard.Token).Guarded();
    }

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

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) => throw new InvalidOperationException("the log is full");
    }
}
