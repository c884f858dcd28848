namespace Net.Zlink.Transports;

internal enum WireEnd
{
    Plain,

    Finished,

    GoingAway,
}
