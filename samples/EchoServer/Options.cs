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

    public IReadOnlyList<string> Endpoints { get; init; } = [DefaultEndpoint];

    public EchoMode Mode { get; init; }

    /// <summary>Null: one shard per processor, the library's own default.</summary>
    public int? Shards { get; init; }

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

    /// <summary>
    /// Sets the runtime's switch, for the whole process. The runtime reads it once, at the first socket: that is why a program can still
    /// set it here, and why a library never should.
    /// </summary>
    public void ApplyInlineCompletions()
    {
        if (InlineCompletions != InlineCompletions.Unchanged)
        {
            Environment.SetEnvironmentVariable(InlineCompletionsVariable, InlineCompletions == InlineCompletions.On ? "1" : "0");
        }
    }

    /// <summary>The settings that decide about speed, for a heading.</summary>
    public string Describe()
    {
        string mode = Mode == EchoMode.Push ? "push" : "pull";
        int shards = Shards ?? Environment.ProcessorCount;
        string pool = Pool == PoolPreset.Server ? "server" : "default";
        string inline = Environment.GetEnvironmentVariable(InlineCompletionsVariable) is "1" ? "on" : "off";
        return $"{mode} mode, {shards} shard{(shards == 1 ? "" : "s")}, {pool} pool, inline completions {inline}";
    }
}
