using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Monitoring;

/// <summary>The application's logger, of which nothing is thrown: a log that cannot write (a full disk, a closed sink) loses lines, and no
/// connection, event or shutdown.</summary>
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
            // There is nowhere left to say so.
        }
    }
}
