using Polly;
using Polly.CircuitBreaker;
using Polly.Hedging;
using Polly.Retry;

namespace Net.Zlink.Services.Tests;

/// <summary>The code of docs/services.md, "Retries, hedging, circuit breaking": a test compares the two.</summary>
internal static class Recipe
{
    // begin
    public static ResiliencePipeline<ServiceReply> Retry() => new ResiliencePipelineBuilder<ServiceReply>()
        .AddRetry(new RetryStrategyOptions<ServiceReply>
        {
            // Not executed: to send it again is safe, whatever it does.
            ShouldHandle = new PredicateBuilder<ServiceReply>().Handle<ServiceException>(static e => !e.WasExecuted),
            MaxRetryAttempts = 3,
            Delay = TimeSpan.FromMilliseconds(50),
            BackoffType = DelayBackoffType.Exponential,
            UseJitter = true,
        })
        .Build();

    public static ResiliencePipeline<ServiceReply> Hedge() => new ResiliencePipelineBuilder<ServiceReply>()
        .AddHedging(new HedgingStrategyOptions<ServiceReply>
        {
            // For requests that may be executed twice. The slower receiver gets a cancel, and its reply is disposed.
            ShouldHandle = new PredicateBuilder<ServiceReply>().Handle<ServiceException>().Handle<TimeoutException>(),
            MaxHedgedAttempts = 1,
            Delay = TimeSpan.FromMilliseconds(100),
        })
        .Build();

    public static ResiliencePipeline<ServiceReply> Break() => new ResiliencePipelineBuilder<ServiceReply>()
        .AddCircuitBreaker(new CircuitBreakerStrategyOptions<ServiceReply>
        {
            ShouldHandle = new PredicateBuilder<ServiceReply>().Handle<ServiceException>().Handle<TimeoutException>(),
            FailureRatio = 0.5,
            MinimumThroughput = 10,
            SamplingDuration = TimeSpan.FromSeconds(10),
            BreakDuration = TimeSpan.FromSeconds(5),
        })
        .Build();

    public static ValueTask<ServiceReply> AskAsync(
        ResiliencePipeline<ServiceReply> pipeline, ServiceClient client, ReadOnlyMemory<byte> question, CancellationToken cancellation) =>
        pipeline.ExecuteAsync(token => client.RequestAsync(question, TimeSpan.FromSeconds(2), token), cancellation);
    // end
}
