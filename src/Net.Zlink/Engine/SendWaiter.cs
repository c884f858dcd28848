using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>A send that waits for capacity. The thread that frees capacity appends its message.</summary>
internal class SendWaiter : Waiter<SendStatus>
{
    /// <summary>On acceptance the queue disposes donated memory, otherwise the sender does.</summary>
    public DeferredMessage Deferred { get; set; }

    internal Exception? Failure { get; set; }

    internal bool WasCopied { get; set; }

    internal SendStatus Outcome { get; set; }

    public static void CompleteEach(SendWaiter? waiter)
    {
        while (waiter is not null)
        {
            var next = (SendWaiter?)waiter.Next;
            waiter.Next = null;
            CompleteAll(waiter, waiter.Outcome);
            waiter = next;
        }
    }

    public static void CompleteAll(SendWaiter? waiter, SendStatus status)
    {
        while (waiter is not null)
        {
            var next = (SendWaiter?)waiter.Next;
            waiter.Next = null;
            if (waiter.Failure is OutOfMemoryException)
            {
                waiter.Complete(SendStatus.NoMemory);
            }
            else if (waiter.Failure is { } failure)
            {
                waiter.Fail(failure);
            }
            else
            {
                if (waiter.WasCopied && waiter.Deferred.Owner is { } copied)
                {
                    DeferredDisposal.Dispose(copied);
                }

                waiter.Complete(status);
            }

            waiter = next;
        }
    }

    protected override void Clear()
    {
        base.Clear();
        Deferred = default;
        Failure = null;
        WasCopied = false;
    }
}
