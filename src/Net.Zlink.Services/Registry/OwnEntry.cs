namespace Net.Zlink.Services;

/// <summary>An entry that registered at this registry: a lease that heartbeats renew.</summary>
/// <param name="instance">What is listed.</param>
/// <param name="now">The time of its first REGISTER.</param>
internal sealed class OwnEntry(ListedInstance instance, TimeSpan now)
{
    public ListedInstance Instance { get; set; } = instance;

    public TimeSpan RegisteredAt { get; } = now;

    public TimeSpan LastSign { get; set; } = now;
}
