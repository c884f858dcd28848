namespace Net.Zlink.Benchmarks.Profile;

/// <summary>
/// Tells threads that run from threads that wait. The profiler samples every managed thread at a fixed rate, whether it has a processor or
/// not; a thread
/// that is in native code, called by one of these, is asleep in the kernel, and would otherwise fill the top of each table.
/// </summary>
internal static class WaitingFrames
{
    private static readonly string[] Waits =
    [
        // The pool's threads without work; the semaphore's wait is compiled into its caller.
        "WorkerThread.WorkerThreadStart",
        "LowLevelLifoSemaphore",
        "LowLevelMonitor",
        "GateThread",

        // epoll_wait, likewise: the only native call of that loop.
        "SocketAsyncEngine.EventLoop",
        "WaitForSocketEvents",
        "TimerThread",
        "WaitHandle.Wait",
        "WaitSubsystem",
        "Monitor.Wait",
        "Monitor.ObjWait",
        "Thread.Sleep",
        "Thread.Join",
        "SemaphoreSlim.Wait",
        "ManualResetEventSlim.Wait",

        // Consoles and signals.
        "Interop+Sys.Read(",
        "ConsolePal",
        "ConsoleStream",
        "SafeFileHandleHelper",
        "SignalHandlerLoop",
    ];

    /// <param name="leaf">The managed method that called into native code.</param>
    public static bool IsWait(string leaf) => Waits.Any(wait => leaf.Contains(wait, StringComparison.Ordinal));
}
