using BenchmarkDotNet.Attributes;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>What it costs to have work run on a shard. Per work.</summary>
[BenchmarkCategory("engine", AllocationCheck.Category)]
public class ShardBenchmarks : IDisposable
{
    private const int Works = 256;

    private readonly BufferPool _pool = new();
    private readonly ManualResetEventSlim _done = new();
    private readonly CountedWork[] _works;
    private readonly CountedWork _single;
    private readonly RepeatedWork _repeated;
    private readonly ShardLoop _shard;
    private int _left;

    public ShardBenchmarks()
    {
        _shard = new ShardLoop(0, new NobodyListens(), TimeProvider.System, new ReceiveSlab(new Slab.SlabCache(_pool)));
        _works = [.. Enumerable.Range(0, Works).Select(_ => new CountedWork(this))];
        _single = new CountedWork(this);
        _repeated = new RepeatedWork(this, _shard);
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _shard.Timers.Dispose();
        _done.Dispose();
        _pool.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>A completion that finds its shard idle: no queue, no thread.</summary>
    [Benchmark]
    public void CompletionOnIdleShard()
    {
        _left = Works; // Never counted down to zero: nobody waits here.
        _shard.RunOrPost(_single, 1);
    }

    /// <summary>A work posts the next one from the shard itself.</summary>
    [Benchmark(OperationsPerInvoke = Works)]
    public void PostFromTheShard()
    {
        _done.Reset();
        _left = Works;
        _shard.Post(_repeated, 1);
        _done.Wait();
    }

    /// <summary>A burst from another thread, with one start of a turn on the thread pool in it.</summary>
    [Benchmark(OperationsPerInvoke = Works)]
    public void PostFromAnotherThread()
    {
        _done.Reset();
        _left = Works;
        foreach (CountedWork work in _works)
        {
            _shard.Post(work, 1);
        }

        _done.Wait();
    }

    /// <summary>There and back: post to an idle shard and wait for it, mostly the thread pool's wake-up.</summary>
    [Benchmark]
    public void PostAndWait()
    {
        _done.Reset();
        _left = 1;
        _shard.Post(_single, 1);
        _done.Wait();
    }

    private bool CountDown()
    {
        if (--_left > 0)
        {
            return false;
        }

        _done.Set();
        return true;
    }

    private sealed class CountedWork(ShardBenchmarks owner) : ShardWork
    {
        internal override void Run(int reasons) => owner.CountDown();

        internal override void OnFault(Exception exception) => Environment.FailFast("A benchmark's work threw.", exception);

        internal override string Describe() => "benchmark";
    }

    private sealed class RepeatedWork(ShardBenchmarks owner, ShardLoop shard) : ShardWork
    {
        internal override void Run(int reasons)
        {
            if (!owner.CountDown())
            {
                shard.Post(this, 1);
            }
        }

        internal override void OnFault(Exception exception) => Environment.FailFast("A benchmark's work threw.", exception);

        internal override string Describe() => "benchmark";
    }

    private sealed class NobodyListens : IShardObserver
    {
        public void OnSlowRun(ShardLoop shard, string work, TimeSpan elapsed)
        {
        }

        public void OnBlockedRun(ShardLoop shard, string work, TimeSpan elapsed)
        {
        }

        public void OnLateRun(ShardLoop shard, TimeSpan delay)
        {
        }
    }
}
