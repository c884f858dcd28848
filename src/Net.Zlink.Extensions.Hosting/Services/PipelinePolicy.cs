using Net.Zlink.Services;
using Polly;

namespace Net.Zlink.Extensions.Hosting;

internal sealed class PipelinePolicy(ResiliencePipeline pipeline) : IRequestPolicy
{
    public ValueTask<TReply> ExecuteAsync<TState, TReply>(
        Func<TState, CancellationToken, ValueTask<TReply>> attempt, TState state, CancellationToken cancellationToken) =>
        pipeline.ExecuteAsync(
            static (held, token) => held.attempt(held.state, token), (attempt, state), cancellationToken);
}
