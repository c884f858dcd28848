using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Loggers and listeners of metrics are the application's. One that throws costs no request.</summary>
public class ThrowingObserverTests
{
    [Fact]
    public async Task A_listener_of_metrics_that_throws_ends_no_request_and_no_loop()
    {
        await using var scene = new GatewayScene();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, owner) =>
        {
            if (instrument is Histogram<double> && ReferenceEquals(instrument.Meter.Scope, scene.Fixture.Context))
            {
                owner.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<double>((_, _, _, _) => throw new InvalidOperationException("a listener"));
        listener.Start();
        await scene.AddServingAsync(
            "one", static (request, cancellationToken) => request.ReplyAsync(request.Memory, cancellationToken), maxConcurrency: 1);

        for (int i = 0; i < 3; i++)
        {
            Assert.Equal("x", await scene.AskAsync("x"));
        }
    }

    [Fact]
    public async Task A_logger_that_throws_loses_no_reply_of_a_batch()
    {
        using var log = new ThrowingLog();
        await using var fixture = new ContextFixture(log: log);
        RouterSocket router = fixture.Own(fixture.Context.CreateRouter());
        var directory = new StaticDirectory();
        directory.SetService("svc", [new ServiceInstance("svc", router.Bind("tcp://127.0.0.1:*"))]);
        await using var gateway = new ServiceGateway(fixture.Context, directory);
        ServiceClient client = gateway.GetClient("svc");
        await client.WaitUntilReadyAsync(1, Guard.Token).Guarded();
        log.Throws = true;
        Task<ServiceReply>[] asked =
        [
            .. Enumerable.Range(0, 3).Select(_ => client.RequestAsync("x"u8.ToArray(), Guard.Limit, Guard.Token).AsTask()),
        ];
        Message[] requests = [.. await Task.WhenAll(asked.Select(_ => router.ReceiveAsync(Guard.Token).Guarded()))];

        foreach (Message request in requests)
        {
            Assert.True(RequestEnvelope.TryRead(request.Span, out RequestEnvelope envelope));
            using var reply = new MessageBuilder();
            reply.AddEnvelope(new RequestEnvelope { Kind = EnvelopeKind.Reply, Flags = EnvelopeFlags.Draining, Id = envelope.Id });
            await router.To(request.RoutingId).SendAsync(reply.Add("y"), Guard.Token).Guarded();
            request.Dispose();
        }

        Array.ForEach(await Task.WhenAll(asked).Guarded(), static reply => reply.Dispose());
        Assert.True(log.Thrown > 0);
    }

    private sealed class ThrowingLog : ILoggerFactory, ILogger
    {
        private int _thrown;

        public volatile bool Throws;

        public int Thrown => Volatile.Read(ref _thrown);

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (Throws && eventId.Id is >= 2000 and < 2300)
            {
                Interlocked.Increment(ref _thrown);
                throw new InvalidOperationException("a logger");
            }
        }

        public void Dispose()
        {
        }
    }
}
