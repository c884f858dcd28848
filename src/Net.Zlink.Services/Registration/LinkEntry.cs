namespace Net.Zlink.Services;

/// <summary>The state of one registration at one link. Used by the link's loop alone.</summary>
internal sealed class LinkEntry(ServiceText service, uint weight)
{
    public ServiceText Service => service;

    /// <summary>What the application wants.</summary>
    public uint Weight { get; set; } = weight;

    public uint? AcceptedWeight { get; private set; }

    public RegistrationState State { get; set; } = RegistrationState.Pending;

    public byte? StatusCode { get; set; }

    public string Detail { get; set; } = "";

    public TimeSpan? AcceptedAt { get; private set; }

    /// <summary>Of REGISTER or HEARTBEAT.</summary>
    public TimeSpan? LastSentAt { get; set; }

    /// <summary>The registry has accepted it by this connection and not refused it since: heartbeats keep it.</summary>
    public bool IsListed { get; private set; }

    /// <summary>In a row, by this connection.</summary>
    public int Refusals { get; private set; }

    /// <summary>When it is sent again after a refusal; null: not refused, or already sent.</summary>
    public TimeSpan? RetryAt { get; set; }

    /// <summary>Whether the lists that this process follows have it; null: unknown. The owner sets it before a tick.</summary>
    public bool? IsSeen { get; set; }

    /// <summary>A list contained it once, so a list without it is a loss.</summary>
    public bool WasSeen { get; set; }

    /// <summary>Heartbeats in a row at which it was not seen.</summary>
    public int Unseen { get; set; }

    public void OnAccepted(TimeSpan now, uint weight)
    {
        (State, IsListed, AcceptedAt, AcceptedWeight) = (RegistrationState.Registered, true, now, weight);
        (Refusals, RetryAt, Unseen) = (0, null, 0);
    }

    public void OnRefused(TimeSpan retryAt, bool isListed)
    {
        (State, IsListed, RetryAt) = (RegistrationState.Refused, isListed, retryAt);
        Refusals++;
    }

    public void OnLost(string why)
    {
        (State, Detail, IsListed) = (RegistrationState.Unreachable, why, false);
        (Refusals, RetryAt, Unseen) = (0, null, 0);
    }
}
