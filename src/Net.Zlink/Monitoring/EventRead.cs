using System.Diagnostics.CodeAnalysis;
using System.Threading.Channels;
using System.Threading.Tasks.Sources;

namespace Net.Zlink.Monitoring;

/// <summary>
/// Not an async method: with a SynchronizationContext that rejects posts, an async method would throw on a pool thread and end the process.
/// The continuation here is the channel's own, so the exception reaches the handler in <see cref="SocketMonitor"/>.
/// </summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each member is called as often as the awaiter of the read itself would be.")]
internal sealed class EventRead(ValueTask<SocketEvent> read) : IValueTaskSource<SocketEvent>
{
    public SocketEvent GetResult(short token)
    {
        try
        {
            return read.GetAwaiter().GetResult();
        }
        catch (ChannelClosedException)
        {
            throw new ObjectDisposedException(typeof(SocketMonitor).FullName,
                "The monitor has ended, or its socket, and every event was read.");
        }
    }

    public ValueTaskSourceStatus GetStatus(short token) =>
        !read.IsCompleted ? ValueTaskSourceStatus.Pending
        : read.IsCompletedSuccessfully ? ValueTaskSourceStatus.Succeeded
        : read.IsCanceled ? ValueTaskSourceStatus.Canceled
        : ValueTaskSourceStatus.Faulted;

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags)
    {
        bool posts = (flags & ValueTaskSourceOnCompletedFlags.UseSchedulingContext) is not ValueTaskSourceOnCompletedFlags.None;
        bool flows = (flags & ValueTaskSourceOnCompletedFlags.FlowExecutionContext) is not ValueTaskSourceOnCompletedFlags.None;
        void Continue() => continuation(state);
        var awaiter = read.ConfigureAwait(posts).GetAwaiter();
        if (flows)
        {
            awaiter.OnCompleted(Continue);
        }
        else
        {
            awaiter.UnsafeOnCompleted(Continue);
        }
    }
}
