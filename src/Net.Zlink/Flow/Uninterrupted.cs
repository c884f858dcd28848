namespace Net.Zlink.Flow;

/// <summary>
/// <see cref="Thread.Interrupt"/> ends the thread's next wait, even for a lock held a microsecond, in the middle of a send or receive. So
/// such a wait continues, and the interruption is repeated afterwards.
/// </summary>
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

    public static void AskAgain(bool interrupted)
    {
        if (interrupted)
        {
            Thread.CurrentThread.Interrupt();
        }
    }
}
