using System.Globalization;

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

    private const string InlineCompletionsVariable = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";
    private const string PollingThreadsVariable = "DOTNET_SYSTEM_NET_SOCKETS_THREAD_COUNT";

    public IReadOnlyList<string> Endpoints { get; init; } = [DefaultEndpoint];

    public EchoMode Mode { get; init; }

    /// <summary>What the command line says; null: <see cref="ShardCount"/> decides.</summary>
    public int? Shards { get; init; }

    /// <summary>
    /// One shard per processor, the library's own default. With inline completions half as many: each is then run by a polling thread of its own,
    /// and one that has caught up with its clients sleeps and is woken for every burst, which costs the sender more than it gains.
    /// On 2 processors one thread passed on 1.15 times as much as two (docs/benchmarks.md).
    /// </summary>
    public int ShardCount => Shards ?? (CompletesInline ? Math.Max(1, Environment.ProcessorCount / 2) : Environment.ProcessorCount);

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

    private static bool CompletesInline => Environment.GetEnvironmentVariable(InlineCompletionsVariable) is "1";

    /// <summary>
    /// Sets the runtime's switches, for the whole process. The runtime reads them once, at the first socket: that is why a program can still
    /// set them here, and why a library never should.
    /// </summary>
    public void ApplyInlineCompletions()
    {
        if (InlineCompletions != InlineCompletions.Unchanged)
        {
            Environment.SetEnvironmentVariable(InlineCompletionsVariable, InlineCompletions == InlineCompletions.On ? "1" : "0");
        }

        if (CompletesInline && Environment.GetEnvironmentVariable(PollingThreadsVariable) is null)
        {
            // By itself the runtime polls with a thread per processor: those beyond the shards would only compete for them.
            Environment.SetEnvironmentVariable(PollingThreadsVariable, Math.Min(ShardCount, Environment.ProcessorCount).ToString(CultureInfo.InvariantCulture));
        }
    }

    /// <summary>The settings that decide about speed, for a heading.</summary>
    public string Describe()
    {
        string mode = Mode == EchoMode.Push ? "push" : "pull";
        string pool = Pool == PoolPreset.Server ? "server" : "default";
        string inline = CompletesInline ? "on" : "off";
        return $"{mode} mode, {ShardCount} shard{(ShardCount == 1 ? "" : "s")}, {pool} pool, inline completions {inline}";
    }
}
