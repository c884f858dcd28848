namespace Net.Zlink.Conformance.Tests.Replay.Model;

/// <summary>What an application gives to send; <paramref name="Error"/> is the name of the error it must get, or null.</summary>
internal sealed record SentMessage(string At, int Step, IReadOnlyList<byte[]> Parts, string? Error, IReadOnlyList<RandomField> Random);

/// <summary>What an application receives.</summary>
internal sealed record DeliveredMessage(string At, int Step, IReadOnlyList<byte[]> Parts)
{
    /// <summary>Message properties, compared as a set; null when the file says nothing of them.</summary>
    public IReadOnlyDictionary<string, string>? Properties { get; init; }

    /// <summary>What the application is told beside the payload. Only our expectations name it; null is not compared.</summary>
    public string? Kind { get; init; }

    public IReadOnlyList<RandomField> Random { get; init; } = [];
}

/// <summary>A monitor event. <paramref name="Noise"/>: its value is not compared. Its step is when it was read, so it may come
/// earlier.</summary>
internal sealed record MonitorEvent(string At, int Step, string Name, long Value, byte[] RoutingId, bool Noise,
    IReadOnlyList<RandomField> Random);
