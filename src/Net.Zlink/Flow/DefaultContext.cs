namespace Net.Zlink.Flow;

/// <summary>
/// The initial execution context of a pool thread: no AsyncLocal values. In their caller's context loops, timers and connections would keep
/// its AsyncLocals alive and show them to handlers.
/// </summary>
internal static class DefaultContext
{
    // Not in a type initializer: if that fails, it fails for the life of the process.
    private static ExecutionContext? s_empty;

    /// <summary>2 ns, without an allocation.</summary>
    public static bool IsCurrent => ReferenceEquals(ExecutionContext.Capture(), Empty);

    /// <summary>Takes 2 ns if foreign code changed nothing.</summary>
    public static void Restore() => ExecutionContext.Restore(Empty);

    /// <summary>The thread's own context returns afterwards, a suppressed flow included.</summary>
    public static void Run(ContextCallback callback, object state) => ExecutionContext.Run(Empty, callback, state);

    public static T Run<T>(Func<T> make)
    {
        T made = default!;
        ExecutionContext.Run(Empty, _ => made = make(), null);
        return made;
    }

    private static ExecutionContext Empty => s_empty ?? Find();

    private static ExecutionContext Find()
    {
        // Only a thread that was started without a flow is certain to be in it. Once per process, 0.1 ms.
        ExecutionContext? found = null;
        var thread = new Thread(() => found = ExecutionContext.Capture());
        thread.UnsafeStart();
        thread.Join();
        s_empty = found;
        return found!;
    }
}
