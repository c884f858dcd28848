using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Answers requests in bytes. Made by the container for each request, with a scope of services of its own.</summary>
public interface IServiceHandler
{
    /// <summary>Answers one request.</summary>
    /// <param name="request">The request; the caller disposes it.</param>
    /// <param name="cancellationToken">Ends with the request: by its time, its gateway, or the end of the host.</param>
    /// <returns>Complete when the request is dealt with. What it throws fails the request.</returns>
    ValueTask HandleAsync(ServiceRequest request, CancellationToken cancellationToken);
}

/// <summary>Answers requests of one type. Made by the container for each request, with a scope of services of its own.</summary>
/// <typeparam name="TRequest">The request's type.</typeparam>
/// <typeparam name="TReply">The reply's type.</typeparam>
public interface IRequestHandler<in TRequest, TReply>
{
    /// <summary>Answers one request.</summary>
    /// <param name="request">The request.</param>
    /// <param name="cancellationToken">Ends with the request: by its time, its client, or the end of the host.</param>
    /// <returns>The reply. What it throws fails the request.</returns>
    ValueTask<TReply> HandleAsync(TRequest request, CancellationToken cancellationToken);
}
