using System.Net;
using System.Net.Sockets;
using Net.Zlink.Transports;

namespace Net.Zlink.Tests.Child;

/// <summary>
/// Whether a wait for input ends by a report about bytes that were read before it began. Says WAITS, how many ended too early, and whether they ended on a polling thread of the runtime, as they do
/// with inline completions.
/// </summary>
internal static class WaitingProcess
{
    private const int Rounds = 50;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    public static int Run()
    {
        // So few that all but one can be held: the report of the second byte is then handled behind the beginning of the second wait.
        ThreadPool.SetMaxThreads(Environment.ProcessorCount, Environment.ProcessorCount);
        int early = 0;
        bool arePolling = true;
        for (int i = 0; i < Rounds; i++)
        {
            early += RunOne(out bool isPolling) ? 1 : 0;
            arePolling &= isPolling;
        }

        Console.WriteLine($"WAITS early: {early}, polling: {arePolling}");
        return 0;
    }

    private static bool RunOne(out bool isPolling)
    {
        (Socket peer, Socket ours) = ConnectedPair();
        using var wait = new InputWait(ours, new StreamUse());
        using var first = new ManualResetEventSlim();
        using var more = new ManualResetEventSlim();
        var again = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously); // Nothing to dispose of: threads that it held may look at it behind the end of the round.
        ValueTask<int> second = default;
        bool onPoller = false;
        using (peer)
        using (ours)
        {
            ConfiguredWait(wait.WaitAsync(), () =>
            {
                // The second byte comes, and is reported, while this thread still sees to the first; both are read, and only then the next wait begins.
                onPoller = !Thread.CurrentThread.IsThreadPoolThread;
                first.Set();
                Check(more.Wait(Limit));
                byte[] both = new byte[2];
                for (int read = 0; read < both.Length;)
                {
                    read += ours.Receive(both.AsSpan(read));
                }

                second = wait.WaitAsync();
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
            bool isEarly = second.IsCompleted;
            peer.Send([3]);
            second.AsTask().WaitAsync(Limit).GetAwaiter().GetResult();
            isPolling = onPoller;
            return isEarly;
        }
    }

    /// <summary>Another connection's byte, through the runtime's polling.</summary>
    private static void PassThrough()
    {
        (Socket peer, Socket ours) = ConnectedPair();
        using (peer)
        using (ours)
        {
            using var wait = new InputWait(ours, new StreamUse());
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
