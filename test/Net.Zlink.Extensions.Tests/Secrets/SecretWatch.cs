using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Globalization;
using System.Runtime.ExceptionServices;
using System.Text.Json;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>Takes in all that a run lets out: log lines with what they are made of, spans, metrics, exceptions, events, descriptions. In
/// the end none of it may have the secret, and something must have the mark that stands in its place.</summary>
internal sealed class SecretWatch : ILoggerFactory, ILogger, ILoggerProvider, IDisposable
{
    private readonly ConcurrentQueue<string> _seen = new();
    private readonly MeterListener _meters = new();
    private readonly ActivityListener _spans;

    // A part of it is a leak, too. No number has these letters.
    private readonly string _beginning = string.Concat(Enumerable.Range(0, 8).Select(static _ => (char)Random.Shared.Next('g', 'z' + 1)));

    private SecretWatch()
    {
        _spans = new ActivityListener
        {
            ShouldListenTo = static source => source.Name.StartsWith("Net.Zlink", StringComparison.Ordinal),
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStopped = See,
        };
        ActivitySource.AddActivityListener(_spans);
        _meters.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name.StartsWith("Net.Zlink", StringComparison.Ordinal))
            {
                See(instrument.Meter.Tags?.ToArray());
                listener.EnableMeasurementEvents(instrument);
            }
        };
        _meters.SetMeasurementEventCallback<long>((_, _, tags, _) => See(tags.ToArray()));
        _meters.SetMeasurementEventCallback<double>((_, _, tags, _) => See(tags.ToArray()));
        _meters.Start();
        AppDomain.CurrentDomain.FirstChanceException += OnException;
        Context = new ZlinkContext(new ZlinkContextOptions { LoggerFactory = this });
    }

    public ZlinkContext Context { get; }

    private string Secret => $"{_beginning}secret";

    public static async Task RunAsync(Func<SecretWatch, Task> run)
    {
        using var watch = new SecretWatch();
        await run(watch);
        watch._meters.RecordObservableInstruments();
        watch.See(await watch.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded());
        await watch.Context.DisposeAsync().AsTask().Guarded();
        Assert.Contains(watch._seen, static text => text.Contains('…', StringComparison.Ordinal));
        Assert.DoesNotContain(watch._seen, text => text.Contains(watch._beginning, StringComparison.OrdinalIgnoreCase));
    }

    /// <summary>The endpoint with a secret in its query, which ws and wss take.</summary>
    public string Query(string endpoint) => $"{endpoint}?token={Secret}";

    /// <summary>Each endpoint with the secret in each place, of which most are refused.</summary>
    public IEnumerable<string> Planted(params IEnumerable<string> endpoints) => endpoints.SelectMany(IEnumerable<string> (endpoint) =>
    {
        int host = endpoint.IndexOf("://", StringComparison.Ordinal) is var at and >= 0 ? at + 3 : 0;
        string[] users = [$"user:{Secret}", Secret, $"user:{Secret}/1", $"user:{Secret}:80"];
        return (string[])
        [
            .. users.Select(user => endpoint.Insert(host, $"{user}@")), Query(endpoint), $"{endpoint}#{Secret}",
            $"{endpoint}/{Query("p")}#{Secret}", $"{endpoint.Insert(host, $"user:{Secret}@")}?{Secret}#{Secret}",
        ];
    });

    public void Try(Action act)
    {
        try
        {
            act();
        }
        catch (Exception e)
        {
            See(e);
        }
    }

    public async Task TryAsync(Func<Task> act)
    {
        try
        {
            await act().Guarded();
        }
        catch (Exception e)
        {
            See(e);
        }
    }

    public void See(object? shown)
    {
        _seen.Enqueue(shown switch
        {
            KeyValuePair<string, object?>[] tags => string.Join(' ', tags),
            _ => Convert.ToString(shown, CultureInfo.InvariantCulture) ?? "",
        });
    }

    /// <summary>Reads the socket's events until the context ends. The first of them is read when this returns.</summary>
    public T Monitored<T>(T socket)
        where T : ZlinkSocket
    {
        IAsyncEnumerator<SocketEvent> events = socket.MonitorAsync(cancellationToken: CancellationToken.None).GetAsyncEnumerator();
        ValueTask<bool> next = events.MoveNextAsync();
        _ = Task.Run(async () =>
        {
            for (; await next; next = events.MoveNextAsync())
            {
                SocketEvent one = events.Current;
                See($"{one} {one.LocalAddress} {one.RemoteAddress} {one.Detail}");
            }
        });
        return socket;
    }

    public Task UntilSeenAsync(string part) =>
        Guard.UntilAsync(() => _seen.Any(text => text.Contains(part, StringComparison.Ordinal)), $"{part} is seen");

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull
    {
        See(state);
        return null;
    }

    public bool IsEnabled(LogLevel logLevel) => true;

    /// <summary>The line, each value of it as a text and as a sink of JSON writes it, and the exception with its inner ones.</summary>
    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        See(formatter(state, exception));
        See(exception);
        foreach ((string key, object? value) in state as IEnumerable<KeyValuePair<string, object?>> ?? [])
        {
            See($"{key} {value}");
            if (value is RedactedEndpoint endpoint)
            {
                See(JsonSerializer.Serialize(endpoint));
            }
        }
    }

    public void Dispose()
    {
        AppDomain.CurrentDomain.FirstChanceException -= OnException;
        _meters.Dispose();
        _spans.Dispose();
    }

    private void See(Activity span)
    {
        See($"{span.DisplayName} {span.StatusDescription} {string.Join(' ', span.TagObjects)} {string.Join(' ', span.Baggage)}");
        foreach (ActivityEvent one in span.Events)
        {
            See($"{one.Name} {string.Join(' ', one.Tags)}");
        }
    }

    // Of each test in this process: others have nothing of this one's secret.
    private void OnException(object? sender, FirstChanceExceptionEventArgs e)
    {
        if (e.Exception.Message.Contains(_beginning, StringComparison.OrdinalIgnoreCase))
        {
            See($"thrown: {e.Exception.Message}");
        }
    }
}
