using System.Collections.Concurrent;
using Net.Zlink.Engine;

namespace Net.Zlink.Tests.Support;

/// <summary>
/// The turns of a context's shards, run by the test on its own thread: what waits behind <see cref="Run"/> is nothing. After
/// <see cref="Dispose"/> the thread pool runs them, so that the context can end.
/// </summary>
internal sealed class ShardTurns : IDisposable
{
    private readonly ConcurrentQueue<IThreadPoolWorkItem> _waiting = new();
    private volatile bool _isOver;

    public ShardTurns(ZlinkContext context)
    {
        foreach (ShardLoop shard in context.Host.Shards.All)
        {
            shard.Queue = Add;
        }
    }

    public void Run()
    {
        while (_waiting.TryDequeue(out IThreadPoolWorkItem? turn))
        {
            turn.Execute();
        }
    }

    public void Dispose()
    {
        _isOver = true;
        Run();
    }

    private void Add(IThreadPoolWorkItem turn)
    {
        _waiting.Enqueue(turn);
        if (_isOver)
        {
            ThreadPool.QueueUserWorkItem(static turns => turns.Run(), this, preferLocal: false);
        }
    }
}
