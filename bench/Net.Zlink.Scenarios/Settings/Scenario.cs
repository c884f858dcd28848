namespace Net.Zlink.Scenarios.Settings;

/// <summary>What the load does.</summary>
internal enum Scenario
{
    /// <summary>One connection, one message in flight: latency.</summary>
    S0,

    /// <summary>Connects, and sends nothing.</summary>
    S1,

    /// <summary>Many connections with many messages in flight: throughput.</summary>
    S2,
}
