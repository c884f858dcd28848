using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Engine;

/// <summary>What the tests of the engine share.</summary>
internal static class EngineFixture
{
    /// <summary>Only a broken wait takes this long; two busy cores may delay a working one by seconds.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <summary>Checks a property, with an eighth of the examples unless slow tests run; on failure the message has the shrunk example and
    /// the seed that replays it.</summary>
    public static void ForAll<T>(Gen<T> values, int count, Action<T> check) =>
        Prop.ForAll(values.ToArbitrary(), check).Check(Config.QuickThrowOnFailure
            .WithMaxTest(Support.SlowTests.Rounds(Math.Max(20, count / 8), count))
            .WithQuietOnSuccess(true));

    /// <summary>As <see cref="ForAll{T}"/>, over arrays, with a failing array shrunk to a short one.</summary>
    public static void ForAllArrays<T>(Gen<T> items, int count, Action<T[]> check) =>
        Prop.ForAll(Arb.From(items.ArrayOf(), Shrink), check)
            .Check(Config.QuickThrowOnFailure.WithMaxTest(Support.SlowTests.Rounds(Math.Max(20, count / 8), count))
            .WithQuietOnSuccess(true));

    public static ShardLoop NewShard(out RecordingObserver observer, TimeProvider? time = null)
    {
        observer = new RecordingObserver();
        return new ShardLoop(0, observer, time ?? TimeProvider.System, new ReceiveSlab(new Slab.SlabCache(BufferPool.Shared)));
    }

    public static ShardLoop NewShard(TimeProvider? time = null) => NewShard(out _, time);

    /// <summary>A connection with the frames of STREAM.</summary>
    public static Connection NewStreamConnection(
        Wire wire, ShardLoop shard, BufferPool pool, ConnectionSettings settings, IConnectionSink sink) =>
        new(wire, shard, pool, settings, sink, new OutboundQueue(pool, StreamFraming.Format, settings.Outbound));

    /// <summary>Runs a body on a shard and completes when it has run.</summary>
    public static Task OnShardAsync(ShardLoop shard, Action body)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        shard.Post(
            new TestWork(_ =>
            {
                body();
                done.SetResult();
            })
            { Fault = e => done.TrySetException(e) },
            1);
        return done.Task.WaitAsync(Patience);
    }

    /// <summary>
    /// Holds the shard while a body runs (here if it is idle): what is posted meanwhile stays queued. Returns when the body has run; what
    /// it posted may still be on its way.
    /// </summary>
    public static void Hold(ShardLoop shard, Action body)
    {
        Exception? failure = null;
        using var ran = new ManualResetEventSlim();
        shard.RunOrPost(
            new TestWork(_ =>
            {
                try
                {
                    body();
                }
                catch (Exception e)
                {
                    failure = e;
                }

                ran.Set();
            }),
            1);
        Assert.True(ran.Wait(Patience), "The shard did not run.");
        if (failure is not null)
        {
            throw new InvalidOperationException("The body failed.", failure);
        }
    }

    /// <summary>Completes when all that is queued on the shard at the call has run.</summary>
    public static Task DrainAsync(ShardLoop shard) => OnShardAsync(shard, static () => { });

    /// <summary>As <see cref="DrainAsync"/>, for bodies that cannot await. Not by <see cref="Hold"/>: a turn that other processes held up
    /// leaves what is behind its first work to the pool.</summary>
    public static void Drain(ShardLoop shard) => DrainAsync(shard).GetAwaiter().GetResult();

    /// <summary>Keeps a thread busy; what blocks a shard looks the same to it.</summary>
    public static void Spin(TimeSpan time)
    {
        long start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start) < time)
        {
            Thread.SpinWait(100);
        }
    }

    /// <summary>Runs bodies on threads of their own, all released at once; returns when all have ended and rethrows what one of them
    /// threw.</summary>
    public static void InParallel(params Action[] bodies)
    {
        using var start = new Barrier(bodies.Length);
        var failures = new ConcurrentQueue<Exception>();
        Thread[] threads = [.. bodies.Select(body => new Thread(() =>
        {
            try
            {
                Assert.True(start.SignalAndWait(Patience));
                body();
            }
            catch (Exception e)
            {
                failures.Enqueue(e);
            }
        })
        { IsBackground = true })];
        foreach (Thread thread in threads)
        {
            thread.Start();
        }

        foreach (Thread thread in threads)
        {
            Assert.True(thread.Join(Patience), "A thread of the test did not end in time.");
        }

        if (!failures.IsEmpty)
        {
            throw new AggregateException(failures);
        }
    }

    /// <summary>Two ends of a loopback connection; the second one does not block, as the engine's never do.</summary>
    public static async Task<(Socket Peer, Socket Ours)> ConnectedPairAsync()
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        var peer = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        Task connecting = peer.ConnectAsync(listener.LocalEndPoint!);
        Socket ours = await listener.AcceptAsync().WaitAsync(Patience);
        await connecting.WaitAsync(Patience);
        ours.Blocking = false;
        ours.NoDelay = true;
        return (peer, ours);
    }

    public static Transport Tcp { get; } = TransportTable.Find(EndpointText.Tcp)!;

    /// <summary>Bytes that differ from place to place and from seed to seed.</summary>
    public static byte[] Pattern(int length, int seed)
    {
        var bytes = new byte[length];
        for (int i = 0; i < length; i++)
        {
            bytes[i] = (byte)((i * 31) + (i >> 8) + (seed * 17));
        }

        return bytes;
    }

    /// <summary>Payloads as STREAM frames, one behind the other.</summary>
    public static byte[] Frames(byte[][] payloads)
    {
        var bytes = new byte[payloads.Sum(p => StreamFraming.HeaderSize + p.Length)];
        int at = 0;
        foreach (byte[] payload in payloads)
        {
            StreamFraming.WriteFrame(bytes.AsSpan(at), payload);
            at += StreamFraming.HeaderSize + payload.Length;
        }

        return bytes;
    }

    private static IEnumerable<T[]> Shrink<T>(T[] items)
    {
        for (int part = items.Length / 2; part > 0; part /= 2)
        {
            for (int at = 0; at + part <= items.Length; at += part)
            {
                yield return [.. items[..at], .. items[(at + part)..]];
            }
        }
    }
}

/// <summary>A work made of lambdas.</summary>
internal sealed class TestWork(Action<int> run) : ShardWork
{
    public Action<Exception>? Fault { get; init; }

    public string Name { get; init; } = "a test's work";

    internal override void Run(int reasons) => run(reasons);

    internal override void OnFault(Exception exception) => Fault?.Invoke(exception);

    internal override string Describe() => Name;
}

/// <summary>A wire that nothing comes from and that takes nothing.</summary>
internal class TestWire() : Wire(EngineFixture.Tcp)
{
    public override int Available => 0;

    public override bool HasUnread => false;

    public override int UnreadBytes => 0;

    public override bool IsWritable => false;

    public override bool WaitForInput() => true;

    public override WireStatus FinishWait() => WireStatus.Done;

    public override WireStatus Receive(Span<byte> into, out int received)
    {
        received = 0;
        return WireStatus.WouldWait;
    }

    public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent) => throw new NotSupportedException();

    public override bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame) => throw new NotSupportedException();

    public override WireStatus FinishSend() => throw new NotSupportedException();

    public override WireStatus EndSending(WireEnd end) => throw new NotSupportedException();

    public override void AvoidReset()
    {
    }

    public override void Dispose()
    {
    }
}

/// <summary>Remembers what a shard reported.</summary>
internal sealed class RecordingObserver : IShardObserver
{
    public ConcurrentQueue<(string Work, TimeSpan Elapsed)> SlowRuns { get; } = new();

    public Exception? ToThrow { get; set; }

    public void OnSlowRun(ShardLoop shard, string work, TimeSpan elapsed)
    {
        SlowRuns.Enqueue((work, elapsed));
        if (ToThrow is not null)
        {
            throw ToThrow;
        }
    }

    public ConcurrentQueue<(string Work, TimeSpan Elapsed)> BlockedRuns { get; } = new();

    public void OnBlockedRun(ShardLoop shard, string work, TimeSpan elapsed) => BlockedRuns.Enqueue((work, elapsed));

    public ConcurrentQueue<TimeSpan> LateRuns { get; } = new();

    public void OnLateRun(ShardLoop shard, TimeSpan delay)
    {
        LateRuns.Enqueue(delay);
    }
}
