namespace ProxySample;

/// <summary>What the command line asked for, checked and ready to use.</summary>
internal sealed record Options
{
    /// <summary>Where the proxy listens on each side: "tcp", "ipc" or "inproc".</summary>
    public required string Transport { get; init; }

    public required int Clients { get; init; }

    public required int Workers { get; init; }

    /// <summary>Requests of all clients together.</summary>
    public required int Requests { get; init; }

    /// <summary>Bytes of each request.</summary>
    public required int Size { get; init; }

    /// <summary>Requests that each client has under way at most.</summary>
    public required int InFlight { get; init; }

    /// <summary>A copy of everything goes to a socket that counts it.</summary>
    public required bool Capture { get; init; }

    public required bool Quiet { get; init; }
}
