namespace Net.Zlink.Scenarios.Attacks;

/// <summary>All rows of the command.</summary>
internal static class AttackRows
{
    public static IReadOnlyList<AttackRow> All { get; } =
    [
        .. HandshakeRow.All,
        .. FloodRow.All,
        .. PauseRow.All,
        .. ReturningRow.All,
        .. SmallHeapRow.All,
        new SpammedGatewayRow(),
        new StolenEntryRow(),
        new EntryFloodRow(),
        .. DeadEndpointsRow.All,
        new ReadAheadRow(),
        new LongTopicRow(),
        new SubscriptionFloodRow(),
    ];
}
