using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Monitoring;

/// <summary>
/// The application's logger without its exceptions. A log that cannot write (full disk, closed sink) must not end a connection or a
/// shutdown.
/// </summary>
internal sealed class GuardedLogger(ILogger inner) : ILogger
{
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => inner.BeginScope(state);

    [SuppressMessage("Design", "CA1031", Justification = "Whatever the application's logger throws must not end what is logged.")]
    public bool IsEnabled(LogLevel logLevel)
    {
        try
        {
            return inner.IsEnabled(logLevel);
        }
        catch (Exception)
        {
            return false;
        }
    }

    [SuppressMessage("Design", "CA1031", Justification = "Whatever the application's logger throws must not end what is logged.")]
    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?,
        string> formatter)
    {
        try
        {
            inner.Log(logLevel, eventId, state, exception, formatter);
        }
        catch (Exception)
        {
            // There is no other place to report it.
        }
    }
}
