namespace Net.Zlink.Flow;

/// <summary>Locks that ignore an interruption of the thread.</summary>
/// <remarks>
/// <see cref="Thread.Interrupt"/> ends the thread's next wait, even for a lock held a microsecond, in the middle of a send or receive. So
/// such a wait continues, and the interruption is repeated afterwards. It then ends the next real wait, in <c>Engine/BlockingWait</c> or
/// the caller's code.
/// </remarks>
internal static class Uninterrupted
{
    public static Lock.Scope EnterUninterrupted(this Lock gate)
    {
        bool interrupted = false;
        while (true)
        {
            try
            {
                Lock.Scope scope = gate.EnterScope();
                AskAgain(interrupted);
                return scope;
            }
            catch (ThreadInterruptedException)
            {
                interrupted = true;
            }
        }
    }

    /// <returns>True if the thread was interrupted: call <see cref="AskAgain"/> after the last wait.</returns>
    public static bool Enter(object monitor)
    {
        bool interrupted = false;
        while (true)
        {
            try
            {
                Monitor.Enter(monitor);
                return interrupted;
            }
            catch (ThreadInterruptedException)
            {
                interrupted = true;
            }
        }
    }

    /// <returns>As <see cref="Enter"/>.</returns>
    public static bool Wait(object monitor)
    {
        try
        {
            Monitor.Wait(monitor);
            return false;
        }
        catch (ThreadInterruptedException)
        {
            return true;
        }
    }

    /// <summary>Repeats an interruption.</summary>
    public static void AskAgain(bool interrupted)
    {
        if (interrupted)
        {
            Thread.CurrentThread.Interrupt();
        }
    }
}
