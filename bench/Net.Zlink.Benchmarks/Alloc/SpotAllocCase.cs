using System.Globalization;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>One way to publish and subscribe at SPOT nodes in one process, all measured.</summary>
/// <param name="Mode">How; see <see cref="Modes"/>.</param>
/// <param name="Size">Payload bytes.</param>
internal sealed record SpotAllocCase(string Mode, int Size)
{
    /// <summary>As fast as it goes, from one node to another over tcp.</summary>
    public const string Remote = "remote";

    /// <summary>The same, one message at a time: each receive waits.</summary>
    public const string RemoteWaits = "remote-waits";

    /// <summary>As fast as it goes, inside of one node.</summary>
    public const string Local = "local";

    /// <summary>The same, through the queue of publications.</summary>
    public const string Queued = "queued";

    /// <summary>PublishMany and ReceiveManyAsync, over tcp.</summary>
    public const string Batches = "batches";

    /// <summary>Over tcp to eight subscribers; each of them counts.</summary>
    public const string Eight = "eight-subscribers";

    public static string[] Modes { get; } = [Remote, RemoteWaits, Local, Queued, Batches, Eight];

    public static IReadOnlyList<SpotAllocCase> All { get; } = [.. Modes.Select(static mode => new SpotAllocCase(mode, 64))];

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"SPOT, {Mode}, {Size} B");
}
