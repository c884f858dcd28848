using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>Every line that the services log: 2000 to 2099 here and of the registry, 2100 to 2199 of discovery, registration and receiver, 2200 to 2299 of the gateway. Event ids are stable: a retired one is never used again.</summary>
internal static partial class ServicesLog
{
    public const string Category = "Net.Zlink.Services";

    [LoggerMessage(2000, LogLevel.Error, "The {Loop} loop failed in one turn and goes on")]
    public static partial void TurnFailed(ILogger logger, Exception exception, string loop);
}
