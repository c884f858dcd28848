using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Transports;
using Net.Zlink.Transports.WebSocket;

namespace Net.Zlink.Tests.Child;

/// <summary>
/// What becomes of a read that sets out because of a report about bytes that were read before, behind so many waits that ended. Says WAITS,
/// how many reads held a buffer or ended when they should have gone on waiting, how many reports were of that kind, and
/// whether they came on a polling thread of the runtime, as they do with inline completions.
/// </summary>
internal static class WaitingProcess
{
    private const int Rounds = 50;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    // A report that is at work holds the buffer for microseconds.
    private static readonly TimeSpan Moment = TimeSpan.FromSeconds(5);

    public static int Run(string[] args)
    {
        int earlierWaits = int.Parse(args[0], CultureInfo.InvariantCulture);

        // So few that all but one can be held: the report of the second byte is then handled behind the beginning of the second wait.
        ThreadPool.SetMaxThreads(Environment.ProcessorCount, Environment.ProcessorCount);
        int held = 0;
        int falseReports = 0;
        bool arePolling = true;
        for (int i = 0; i < Rounds && held == 0; i++)
        {
            held += RunOne(earlierWaits, out bool wasFalse, out bool isPolling) ? 1 : 0;
            falseReports += wasFalse ? 1 : 0;
            arePolling &= isPolling;
        }

        Console.WriteLine($"WAITS held: {held}, false reports: {(falseReports > 0 ? "some" : "none")}, polling: {arePolling}");
        return 0;
    }

    private static bool RunOne(int earlierWaits, out bool wasFalse, out bool isPolling)
    {
        using var pool = new BufferPool(new BufferPoolOptions { LeakCheck = true });
        (Socket peer, Socket ours) = ConnectedPair();
        using var plain = new ReadinessStream(ours);
        plain.EndHandshake();
        for (int i = 0; i < earlierWaits; i++)
        {
            Task<int> waiting = plain.ReadAsync(Memory<byte>.Empty).AsTask();
            peer.Send([0]);
            waiting.WaitAsync(Limit).GetAwaiter().GetResult();
            Check(plain.TryRead(new byte[1], out _, out _));
        }

        var stream = new ReadAheadStream(plain, pool) { LowerStream = plain };
        using var first = new ManualResetEventSlim();
        using var more = new ManualResetEventSlim();
        // Nothing to dispose of: threads that it held may look at it behind the end of the round.
        var again = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Task<byte>? second = null;
        bool onPoller = false;
        bool wasReported = false;
        using (peer)
        {
            ConfiguredWait(stream.ReadAsync(Memory<byte>.Empty), () =>
            {
                // The second byte comes, and is reported, while this thread still sees to the first; both are read, and only then the next
                // wait begins.
                onPoller = !Thread.CurrentThread.IsThreadPoolThread;
                first.Set();
                Check(more.Wait(Limit));
                byte[] both = new byte[2];
                for (int read = 0; read < both.Length;)
                {
                    read += stream.ReadAsync(both.AsMemory(read)).AsTask().WaitAsync(Limit).GetAwaiter().GetResult();
                }

                second = WaitAndReadAsync();
                again.SetResult();
            });
            peer.Send([1]);
            Check(first.Wait(Limit));
            HoldOtherPoolThreads(onPoller ? Environment.ProcessorCount : Environment.ProcessorCount - 1, again.Task);
            peer.Send([2]);
            more.Set();
            Check(again.Task.Wait(Limit));

            // What was reported by now has been handled once another socket's bytes have, twice.
            PassThrough();
            PassThrough();
            wasFalse = Volatile.Read(ref wasReported);
            bool isHeld = !SpinWait.SpinUntil(() => pool.GetOutstanding().Count == 0, Moment) || second!.IsCompleted;
            peer.Send([3]);
            Check(second!.WaitAsync(Limit).GetAwaiter().GetResult() == 3);
            isPolling = onPoller;
            stream.Release();
            return isHeld;
        }

        // As a WebSocket does.
        async Task<byte> WaitAndReadAsync()
        {
            _ = await stream.ReadAsync(Memory<byte>.Empty).ConfigureAwait(false);
            Volatile.Write(ref wasReported, true);
            byte[] header = new byte[2];
            Check(await stream.ReadAsync(header).ConfigureAwait(false) == 1);
            return header[0];
        }
    }

    /// <summary>Another connection's byte, through the runtime's polling.</summary>
    private static void PassThrough()
    {
        (Socket peer, Socket ours) = ConnectedPair();
        using (peer)
        using (ours)
        {
            using var wait = new InputWait(ours, new TlsShutdownGate());
            Task<int> waiting = wait.WaitAsync().AsTask();
            peer.Send([1]);
            waiting.WaitAsync(Limit).GetAwaiter().GetResult();
        }
    }

    private static void HoldOtherPoolThreads(int count, Task until)
    {
        using var held = new CountdownEvent(count);
        for (int i = 0; i < count; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                state =>
                {
                    state.held.Signal();
                    state.until.Wait(Limit);
                },
                (held, until),
                preferLocal: false);
        }

        Check(held.Wait(Limit));
    }

    private static void ConfiguredWait(ValueTask<int> task, Action then) => task.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(then);

    private static void Check(bool inTime)
    {
        if (!inTime)
        {
            throw new TimeoutException($"Nothing within {Limit}.");
        }
    }

    private static (Socket Peer, Socket Ours) ConnectedPair()
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        var peer = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        peer.Connect(listener.LocalEndPoint!);
        return (peer, listener.Accept());
    }
}
