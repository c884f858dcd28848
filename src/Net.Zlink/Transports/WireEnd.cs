namespace Net.Zlink.Transports;

/// <summary>The close reason for the peer, on transports that have one.</summary>
internal enum WireEnd
{
    /// <summary>None: a fault, or an answer to the peer's end.</summary>
    Plain,

    /// <summary>The application has finished with this peer.</summary>
    Finished,

    /// <summary>The socket or process ends.</summary>
    GoingAway,
}
