namespace Net.Zlink.Sockets.Routing;

internal enum TakenIdPolicy
{
    ReplaceSilent,
    Refuse,
    Replace,
    Share,
}
