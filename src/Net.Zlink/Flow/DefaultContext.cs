namespace Net.Zlink.Flow;

/// <summary>The execution context that a thread of the pool begins with: no AsyncLocal has a value in it, and the culture is the process's.</summary>
/// <remarks>
/// What outlives the call that began it (a loop, a timer, a connection) begins in here: in its caller's context it would keep that caller's AsyncLocals alive, and show them to whoever it calls.
/// Unlike a suppressed flow this holds for what runs before the first wait, too, and may be asked for where the flow is suppressed already.
/// </remarks>
internal static class DefaultContext
{
    // Not a type initializer's: one that fails, fails for as long as the process lives.
    private static ExecutionContext? s_empty;

    /// <summary>The calling thread is in it. 2 ns, and allocates nothing.</summary>
    public static bool IsCurrent => ReferenceEquals(ExecutionContext.Capture(), Empty);

    /// <summary>Takes the calling thread back to it, for one that was in it before somebody else's code ran. 2 ns where that code has changed nothing.</summary>
    public static void Restore() => ExecutionContext.Restore(Empty);

    /// <summary>Runs <paramref name="callback"/> in it, here and now; the calling thread's own context comes back behind it, a suppressed flow included.</summary>
    public static void Run(ContextCallback callback, object state) => ExecutionContext.Run(Empty, callback, state);

    /// <summary>As <see cref="Run(ContextCallback, object)"/>, for what is made or begun there. Allocates: for what is rare.</summary>
    public static T Run<T>(Func<T> make)
    {
        T made = default!;
        ExecutionContext.Run(Empty, _ => made = make(), null);
        return made;
    }

    // Of several threads that find it at once each finds the same.
    private static ExecutionContext Empty => s_empty ?? Find();

    private static ExecutionContext Find()
    {
        // Only a thread that was started without a flow is certain to be in it: there is no other way to leave a context. Once in a process, 0.1 ms, on the thread that makes the first pool or context.
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
