namespace Net.Zlink.Sockets.Routing;

/// <summary>What a ROUTER does with a newcomer whose routing id is taken: the option OnDuplicateRoutingId, which says more.</summary>
internal enum TakenIdPolicy
{
    ReplaceSilent,
    Refuse,
    Replace,
    Share,
}
