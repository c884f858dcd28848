using System.Globalization;
using Net.Zlink;

namespace EchoServer;

/// <summary>
/// How the echo consumes what arrives: a handler called on the connection's shard, or one task that receives for everyone.
/// </summary>
internal enum EchoMode
{
    Push,
    Pull,
}

/// <summary>Which buffer pool preset the server runs on.</summary>
internal enum PoolPreset
{
    Default,
    Server,
}

/// <summary>
/// Where the completions of socket operations run: on the thread pool (off) or on the threads that poll the sockets (on).
/// </summary>
internal enum InlineCompletions
{
    /// <summary>As the environment says, which is off unless someone set the runtime's variable.</summary>
    Unchanged,
    Off,
    On,
}

/// <summary>What the command line asked for, checked and ready to use.</summary>
internal sealed record Options
{
    public const string DefaultEndpoint = "tcp://127.0.0.1:5555";

    /// <summary>The library takes no more.</summary>
    public const int MostShards = 1024;

    private const string InlineCompletionsVariable = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";
    private const string PollingThreadsVariable = "DOTNET_SYSTEM_NET_SOCKETS_THREAD_COUNT";

    public IReadOnlyList<string> Endpoints { get; init; } = [DefaultEndpoint];

    public EchoMode Mode { get; init; }

    /// <summary>What the command line says; null: <see cref="ShardCount"/> decides.</summary>
    public int? Shards { get; init; }

    /// <summary>One shard per processor, the library's own default (which has further ones for tls, ws and wss); with inline completions
    /// one per polling thread, which then is the only one that runs it.</summary>
    public int ShardCount => Shards ?? (CompletesInline ? PollingThreads : Environment.ProcessorCount);

    /// <summary>The library's further shards for tls, ws and wss are used: not where a number was asked for, nor with inline
    /// completions.</summary>
    public bool HasFurtherShards => Shards is null && !CompletesInline && Endpoints.Any(IsTlsOrWebSocket);

    /// <summary>0: no cap.</summary>
    public int MaxConnections { get; init; }

    /// <summary>Bytes; null: the library's safe default (8 MiB).</summary>
    public long? MaxMessageSize { get; init; }

    public PoolPreset Pool { get; init; }

    public InlineCompletions InlineCompletions { get; init; }

    /// <summary>PEM files for tls and wss endpoints; empty: none.</summary>
    public string CertificateFile { get; init; } = "";

    /// <summary>Empty: the key is in the certificate's file.</summary>
    public string KeyFile { get; init; } = "";

    /// <summary>Use a self-signed certificate that the program makes.</summary>
    public bool UsesDevCertificate { get; init; }

    public bool Quiet { get; init; }

    /// <summary>How long each step of the demo is measured; null: no demo, run the server.</summary>
    public TimeSpan? Demo { get; init; }

    // The runtime has the switch where it polls for itself: not on Windows.
    private static bool CompletesInline => !OperatingSystem.IsWindows()
        && Environment.GetEnvironmentVariable(InlineCompletionsVariable) is "1";

    /// <summary>
    /// With inline completions: as the environment says, or as many as shards were asked for, or half as many as processors. A thread that
    /// has caught up with its clients sleeps and is
    /// woken for every burst, which costs the sender more than it gains: on 2 processors one thread passed on 1.15 times as much as two
    /// (docs/benchmarks/log.md).
    /// Encryption is work enough for all, and the demo's clients are polled by the same threads.
    /// </summary>
    private int PollingThreads
    {
        get
        {
            int processors = Environment.ProcessorCount;
            if (int.TryParse(Environment.GetEnvironmentVariable(PollingThreadsVariable), NumberStyles.None, CultureInfo.InvariantCulture,
                out int said) && said > 0)
            {
                return Math.Min(said, MostShards);
            }

            bool isPlain = Demo is null && !Endpoints.Any(IsEncrypted);
            return Math.Min(Shards ?? (isPlain ? Math.Max(1, processors / 2) : processors), processors);
        }
    }

    /// <summary>The endpoint needs a certificate.</summary>
    public static bool IsEncrypted(string endpoint) => endpoint.StartsWith("tls://", StringComparison.Ordinal)
        || endpoint.StartsWith("wss://", StringComparison.Ordinal);

    private static bool IsTlsOrWebSocket(string endpoint) => IsEncrypted(endpoint)
        || endpoint.StartsWith("ws://", StringComparison.Ordinal);

    /// <summary>
    /// Sets the runtime's switches, for the whole process. The runtime reads them once, at the first socket: that is why a program can
    /// still
    /// set them here, and why a library never should.
    /// </summary>
    public void ApplyInlineCompletions()
    {
        if (InlineCompletions != InlineCompletions.Unchanged)
        {
            Environment.SetEnvironmentVariable(InlineCompletionsVariable, InlineCompletions == InlineCompletions.On ? "1" : "0");
        }

        if (CompletesInline)
        {
            // By itself the runtime polls with a thread per processor: those beyond the shards would only compete for them.
            Environment.SetEnvironmentVariable(PollingThreadsVariable, PollingThreads.ToString(CultureInfo.InvariantCulture));
        }
    }

    /// <summary>The settings that decide about speed, for a heading.</summary>
    public string Describe()
    {
        string mode = Mode == EchoMode.Push ? "push" : "pull";
        string pool = Pool == PoolPreset.Server ? "server" : "default";
        string inline = CompletesInline ? $"on, {PollingThreads} polling thread{(PollingThreads == 1 ? "" : "s")}" : "off";
        string further = HasFurtherShards ? $" and {new ZlinkContextOptions().TlsAndWebSocketShardCount} for tls/ws" : "";
        return $"{mode} mode, {ShardCount} shard{(ShardCount == 1 ? "" : "s")}{further}, {pool} pool, inline completions {inline}";
    }
}
