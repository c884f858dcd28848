using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>A send that waits for room below the high-water mark; whoever makes room appends its message.</summary>
internal class SendWaiter : Waiter<SendStatus>
{
    /// <summary>What is to be sent. Memory that was handed over with it is disposed by who accepts it; otherwise by the sender.</summary>
    public DeferredMessage Deferred { get; set; }

    /// <summary>Why the message could not be read when its turn came.</summary>
    internal Exception? Failure { get; set; }

    /// <summary>It was accepted by copying: the memory that was handed over is not needed any more.</summary>
    internal bool WasCopied { get; set; }

    /// <summary>What became of it, where that is decided one by one.</summary>
    internal SendStatus Outcome { get; set; }

    /// <summary>As <see cref="CompleteAll"/>, each with its own <see cref="Outcome"/>.</summary>
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

    /// <summary>Completes waiters that were taken out of their list and linked, outside of every lock.</summary>
    public static void CompleteAll(SendWaiter? waiter, SendStatus status)
    {
        while (waiter is not null)
        {
            var next = (SendWaiter?)waiter.Next;
            waiter.Next = null;
            if (waiter.Failure is { } failure)
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
