using System.Globalization;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>One way to use a gateway and the ROUTER of a receiver in one process, both measured.</summary>
/// <param name="Mode">How; see <see cref="Modes"/>.</param>
/// <param name="Size">Payload bytes.</param>
internal sealed record ServiceAllocCase(string Mode, int Size)
{
    /// <summary>As fast as it goes, with TrySend.</summary>
    public const string Flood = "try-send";

    /// <summary>SendAsync with marks of a few messages: again and again it really waits.</summary>
    public const string SendWaits = "send-waits";

    /// <summary>One RequestAsync at a time.</summary>
    public const string Request = "request";

    /// <summary>Several RequestAsync at once.</summary>
    public const string Requests = "requests";

    /// <summary>Plain messages that come back and are received from the gateway, one at a time.</summary>
    public const string Answers = "answers";

    public static string[] Modes { get; } = [Flood, SendWaits, Request, Requests, Answers];

    public static IReadOnlyList<ServiceAllocCase> All { get; } = [.. Modes.Select(static mode => new ServiceAllocCase(mode, 64))];

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"GATEWAY tcp, {Mode}, {Size} B");
}
