using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>The subscribers of a node, and what those had that have ended. Safe for any number of threads.</summary>
internal sealed class SubscriberSet(TopicIndex index, ZlinkContext context, ILogger logger) : IDisposable
{
    private readonly Lock _gate = new();
    private readonly HashSet<SubscriberQueue> _queues = [];
    private SpotSubscriberStatistics _ended = new();
    private long _handlerFaults;
    private bool _isDisposed;

    public TopicIndex Index => index;

    public long HandlerFaults => Interlocked.Read(ref _handlerFaults);

    /// <summary>How many there are, and the sum of what they and those that have ended have got.</summary>
    public (int Count, SpotSubscriberStatistics Sum) Statistics
    {
        get
        {
            lock (_gate)
            {
                return (_queues.Count, _queues.Aggregate(_ended, static (sum, queue) => Add(sum, queue.Statistics)));
            }
        }
    }

    /// <summary>Those that are not disposed.</summary>
    public SubscriberQueue[] Present
    {
        get
        {
            lock (_gate)
            {
                return [.. _queues];
            }
        }
    }

    public SubscriberQueue Add(SpotSubscriberOptions options)
    {
        SubscriberQueue queue = null!;
        queue = new SubscriberQueue(options, dropped => SpotLog.SubscriberDrops(logger, index.Describe(queue), dropped), context);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, "Net.Zlink.Services.SpotNode");
            _queues.Add(queue);
        }

        return queue;
    }

    public void Remove(SubscriberQueue queue)
    {
        queue.Close();
        lock (_gate)
        {
            if (!_queues.Remove(queue))
            {
                return;
            }

            _ended = Add(_ended, queue.Statistics);
        }

        try
        {
            index.RemoveAll(queue);
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            // There is no socket any more to cancel filters at.
        }
    }

    /// <param name="exception">What the handler threw.</param>
    /// <param name="topic">Of the message.</param>
    public void OnHandlerFault(Exception exception, string topic)
    {
        Interlocked.Increment(ref _handlerFaults);
        SpotLog.HandlerFailed(logger, exception, topic);
    }

    public void Dispose()
    {
        SubscriberQueue[] queues;
        lock (_gate)
        {
            _isDisposed = true;
            queues = [.. _queues];
        }

        Array.ForEach(queues, Remove);
    }

    private static SpotSubscriberStatistics Add(SpotSubscriberStatistics one, SpotSubscriberStatistics other) => new()
    {
        Matched = one.Matched + other.Matched,
        Received = one.Received + other.Received,
        Dropped = one.Dropped + other.Dropped,
        Queued = one.Queued + other.Queued,
        QueuedBytes = one.QueuedBytes + other.QueuedBytes,
    };
}
