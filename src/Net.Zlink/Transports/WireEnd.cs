namespace Net.Zlink.Transports;

/// <summary>What the peer is told when our side ends, on transports that have a word for it.</summary>
internal enum WireEnd
{
    /// <summary>Nothing beyond the end itself: a fault, or an answer to the peer's own end.</summary>
    Plain,

    /// <summary>The application has finished with this peer.</summary>
    Finished,

    /// <summary>The whole socket or process goes.</summary>
    GoingAway,
}
