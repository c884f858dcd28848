namespace Net.Zlink.Sockets.Routing;

/// <summary>What a ROUTER does with a new peer whose routing id is in use: see the option OnDuplicateRoutingId.</summary>
internal enum TakenIdPolicy
{
    ReplaceSilent,
    Refuse,
    Replace,
    Share,
}
