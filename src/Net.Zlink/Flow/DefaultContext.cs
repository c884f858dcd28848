namespace Net.Zlink.Flow;

/// <summary>The initial execution context of a thread-pool thread: no AsyncLocal values, the process's culture.</summary>
/// <remarks>
/// Loops, timers and connections begin here. In their caller's context they would keep its AsyncLocals alive and show them to handlers.
/// Unlike a suppressed flow, this includes the code before the first await.
/// </remarks>
internal static class DefaultContext
{
    // Not in a type initializer: if that fails, it fails for the life of the process.
    private static ExecutionContext? s_empty;

    /// <summary>2 ns, without an allocation.</summary>
    public static bool IsCurrent => ReferenceEquals(ExecutionContext.Capture(), Empty);

    /// <summary>For a thread that was in this context before foreign code ran. 2 ns if that code changed nothing.</summary>
    public static void Restore() => ExecutionContext.Restore(Empty);

    /// <summary>The thread's own context returns afterwards, a suppressed flow included.</summary>
    public static void Run(ContextCallback callback, object state) => ExecutionContext.Run(Empty, callback, state);

    /// <summary>For code that creates or starts something. Allocates: for rare use.</summary>
    public static T Run<T>(Func<T> make)
    {
        T made = default!;
        ExecutionContext.Run(Empty, _ => made = make(), null);
        return made;
    }

    // Several threads may search at once; all find the same.
    private static ExecutionContext Empty => s_empty ?? Find();

    private static ExecutionContext Find()
    {
        // Only a thread that was started without a flow is certain to be in it. Once per process, 0.1 ms.
        ExecutionContext? found = null;
        var thread = new Thread(() => found = ExecutionContext.Capture());
        thread.UnsafeStart();
        bool interrupted = false;
        while (true)
        {
            try
            {
                thread.Join();
                break;
            }
            catch (ThreadInterruptedException)
            {
                interrupted = true;
            }
        }

        Uninterrupted.AskAgain(interrupted);
        s_empty = found;
        return found!;
    }
}
