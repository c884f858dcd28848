namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>Sockets of one process that exchange messages, and what that cost.</summary>
internal interface IAllocLoop : IAsyncDisposable
{
    /// <summary>So many messages, all of which have arrived when it completes.</summary>
    Task RunAsync(int messages);

    AllocMark Mark();
}
