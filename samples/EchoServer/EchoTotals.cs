namespace EchoServer;

/// <summary>What the server has done since it started; bytes are those of payloads, without the length prefixes.</summary>
internal readonly record struct EchoTotals
{
    /// <summary>Open right now.</summary>
    public long Connections { get; init; }

    public long Accepted { get; init; }

    /// <summary>Turned away because of --max-connections.</summary>
    public long Refused { get; init; }

    public long MessagesIn { get; init; }

    /// <summary>Written to the network.</summary>
    public long MessagesOut { get; init; }

    public long BytesIn { get; init; }

    public long BytesOut { get; init; }

    /// <summary>Received in pull mode, but not taken from the socket before it closed.</summary>
    public long Unanswered { get; init; }
}
