using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>What discovery, registration and receiver log.</summary>
internal static partial class ServicesLog
{
    [LoggerMessage(2100, LogLevel.Error, "A handler of requests failed")]
    public static partial void HandlerFailed(ILogger logger, Exception exception);

    [LoggerMessage(2101, LogLevel.Warning,
        "The registry {Registry} does not answer the registration of {Endpoint}, also on another connection: another receiver may have "
        + "registered the same endpoint there")]
    public static partial void RegistryDoesNotAnswer(ILogger logger, string registry, string endpoint);
}
