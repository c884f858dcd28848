namespace Net.Zlink.Tests.Recorded;

/// <summary>By their names in the recording.</summary>
internal static class Scenarios
{
    public static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    public static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(100);

    public static readonly IReadOnlyDictionary<string, Action<ScenarioLog>> All =
        new Dictionary<string, Action<ScenarioLog>>(
            ConnectionScenarios.All.Concat(HandshakeScenarios.All).Concat(QueueScenarios.All).Concat(RoutingIdScenarios.All)
                .Concat(PublisherScenarios.All).Concat(StreamScenarios.All), StringComparer.Ordinal);

    /// <summary>With pauses that have no random part.</summary>
    public static T Dials<T>(T options, string id = "")
        where T : ZmpSocketOptions
    {
        options.ReconnectInterval = FirstPause;
        options.ReconnectIntervalMax = Second;
        options.RoutingIdText = id.Length > 0 ? id : options.RoutingIdText;
        return options;
    }
}
