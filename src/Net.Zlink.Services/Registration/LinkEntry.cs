namespace Net.Zlink.Services;

/// <summary>What one link knows of one registration. Used by the link's loop alone.</summary>
internal sealed class LinkEntry(ServiceText service, uint weight)
{
    public ServiceText Service { get; } = service;

    /// <summary>What the application wants.</summary>
    public uint Weight { get; set; } = weight;

    public RegistrationState State { get; set; } = RegistrationState.Pending;

    public byte? StatusCode { get; set; }

    public string Detail { get; set; } = "";

    /// <summary>The weight that the registry accepted last.</summary>
    public uint? AcceptedWeight { get; set; }

    public TimeSpan? AcceptedAt { get; set; }

    /// <summary>When REGISTER or HEARTBEAT was sent last.</summary>
    public TimeSpan? LastSentAt { get; set; }
}
