namespace Net.Zlink.Conformance.Tests.Replay.Model;

/// <summary>Something that happens in a step besides what applications send and what is on the wire.</summary>
internal sealed record TranscriptAction(int Step, string At, ActionKind Kind)
{
    /// <summary>The place of what neither side does.</summary>
    public const string Net = "net";

    /// <summary>The connection of connect, accept and cut; 0 otherwise.</summary>
    public int Connection { get; init; }

    /// <summary>accept: how far the clock may be moved until the connection comes; null when it needs no time.</summary>
    public int? WithinMs { get; init; }

    /// <summary>accept: nothing of this connection was recorded, so nothing is compared.</summary>
    public bool Unrecorded { get; init; }

    /// <summary>set: the option and what it is set to.</summary>
    public SideOption? Option { get; init; }

    /// <summary>subscribe and unsubscribe: the topic.</summary>
    public byte[] Topic { get; init; } = [];

    /// <summary>cut: how the connection ends.</summary>
    public CloseKind Cut { get; init; }

    /// <summary>idle: for how long.</summary>
    public int Milliseconds { get; init; }
}

internal enum ActionKind
{
    Monitor,
    Bind,
    Connect,
    Accept,
    Set,
    Subscribe,
    Unsubscribe,
    Close,
    Cut,
    Idle,
}

/// <summary>How a connection was closed. They count alike; the difference only tells a peer what to do.</summary>
internal enum CloseKind
{
    Fin,
    Rst,
    Close,
}
