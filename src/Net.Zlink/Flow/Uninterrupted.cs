namespace Net.Zlink.Flow;

/// <summary>Locks of the library that an application's thread takes although it was interrupted.</summary>
/// <remarks>
/// <see cref="Thread.Interrupt"/> ends whatever wait its thread comes to next, also one for a lock that somebody holds for a microsecond: in the middle of a send or a receive, with a message taken that would be lost, or another
/// thread's wake-up. So such a wait goes on, and the interruption is asked for again behind it: it comes where the thread next waits in earnest, in our <c>Engine/BlockingWait</c>, which gives up its wait first, or in the caller's code.
/// </remarks>
internal static class Uninterrupted
{
    /// <summary>Takes a lock; the result leaves it.</summary>
    public static Lock.Scope EnterScope(this Lock gate)
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

    /// <summary>Takes a monitor.</summary>
    /// <returns>The thread was interrupted: <see cref="AskAgain"/> is called when it waits for nothing of ours any more.</returns>
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

    /// <summary>As <see cref="Monitor.Wait(object)"/>. Returns what <see cref="Enter"/> does.</summary>
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

    /// <summary>The thread is interrupted once more, where it was.</summary>
    public static void AskAgain(bool interrupted)
    {
        if (interrupted)
        {
            Thread.CurrentThread.Interrupt();
        }
    }
}
