using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>A log that keeps its lines, and may do something at each.</summary>
internal sealed class RecordingLoggers : ILoggerFactory, ILogger
{
    public ConcurrentQueue<(LogLevel Level, string Text)> Lines { get; } = new();

    /// <summary>The same lines, by their event ids.</summary>
    public ConcurrentQueue<(EventId Id, string Text)> Events { get; } = new();

    /// <summary>What is done at each line.</summary>
    public Action<string>? Told { get; set; }

    public IEnumerable<string> TextsOf(int eventId) => Events.Where(one => one.Id.Id == eventId).Select(static one => one.Text);

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public ILogger CreateLogger(string categoryName) => this;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?,
        string> formatter)
    {
        string text = formatter(state, exception);
        Events.Enqueue((eventId, text));
        Lines.Enqueue((logLevel, text));
        Told?.Invoke(text);
    }

    public void Dispose()
    {
    }
}
