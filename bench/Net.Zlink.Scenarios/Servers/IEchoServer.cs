namespace Net.Zlink.Scenarios.Servers;

/// <summary>An echo server of one stack: each frame goes back as it came.</summary>
internal interface IEchoServer : IAsyncDisposable
{
    /// <summary>The address with the real port.</summary>
    string Endpoint { get; }

    ServerCounts GetCounts();
}

/// <summary>What a server knows of itself.</summary>
/// <param name="Connections">Open now.</param>
/// <param name="Dropped">Messages and connections that it dropped or refused; null if it does not count.</param>
internal readonly record struct ServerCounts(long Connections, long? Dropped);

/// <summary>What a server is started with.</summary>
internal sealed record ServerSettings(string Endpoint, int Backlog, int HighWaterMark, int Shards)
{
    /// <summary>What a context takes.</summary>
    public const int MostShards = 1024;
}
