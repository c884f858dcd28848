namespace Net.Zlink.Services;

/// <summary>Runs the requests of a <see cref="RequestClient"/>, each perhaps several times: retries, hedging, a circuit breaker.</summary>
/// <remarks>Implementations are safe for any number of threads. <see cref="ServiceException.WasExecuted"/> tells whether it is safe to send
/// a failed request again.</remarks>
public interface IRequestPolicy
{
    /// <summary>Runs one request.</summary>
    /// <param name="attempt">Sends the request once and waits for its reply.</param>
    /// <param name="state">To be passed to each attempt.</param>
    /// <param name="cancellationToken">The caller's.</param>
    /// <typeparam name="TState">What an attempt needs.</typeparam>
    /// <typeparam name="TReply">The reply.</typeparam>
    /// <returns>The reply of an attempt.</returns>
    ValueTask<TReply> ExecuteAsync<TState, TReply>(
        Func<TState, CancellationToken, ValueTask<TReply>> attempt, TState state, CancellationToken cancellationToken);
}
