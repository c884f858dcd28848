using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Thresholds of the health check of a receiver. Each figure counts from its threshold on.</summary>
public sealed class ReceiverHealthOptions
{
    /// <summary>Handlers that threw since the last look. Default: degraded at 1, unhealthy at 100.</summary>
    public HealthThreshold HandlerFaults { get; set; } = new(1, 100);

    /// <summary>Requests whose time was over before they began, since the last look. Default: degraded at 1, unhealthy at 1,000.</summary>
    public HealthThreshold ExpiredRequests { get; set; } = new(1, 1_000);

    /// <summary>Requests that have not ended. Default: degraded at 1,000, unhealthy at 10,000.</summary>
    public HealthThreshold RunningRequests { get; set; } = new(1_000, 10_000);

    /// <summary>Registries that have not accepted the registration, or where it is <see cref="RegistrationState.Unconfirmed"/>. Default:
    /// degraded at 1; unhealthy where no registry lists it.</summary>
    public HealthThreshold MissingRegistrations { get; set; } = new(1, null);
}

/// <summary>Thresholds of the health check of a client. Each figure counts from its threshold on.</summary>
public sealed class ClientHealthOptions
{
    /// <summary>Receivers that are ready: counts below its thresholds. Default: unhealthy without one.</summary>
    public HealthThreshold ReadyReceivers { get; set; } = new(null, 1);

    /// <summary>Messages that wait for receivers. Default: degraded at 10,000, unhealthy at 100,000.</summary>
    public HealthThreshold QueuedMessages { get; set; } = new(10_000, 100_000);
}
