namespace Net.Zlink.Extensions.Hosting;

/// <summary>From where on a figure makes a health check degraded or unhealthy. Null: never.</summary>
public sealed class HealthThreshold
{
    /// <summary>Never.</summary>
    public HealthThreshold()
    {
    }

    /// <summary>From these figures on.</summary>
    /// <param name="degraded">See <see cref="Degraded"/>.</param>
    /// <param name="unhealthy">See <see cref="Unhealthy"/>.</param>
    public HealthThreshold(double? degraded, double? unhealthy)
    {
        Degraded = degraded;
        Unhealthy = unhealthy;
    }

    /// <summary>The figure that makes the check degraded.</summary>
    public double? Degraded { get; set; }

    /// <summary>The figure that makes the check unhealthy.</summary>
    public double? Unhealthy { get; set; }
}
