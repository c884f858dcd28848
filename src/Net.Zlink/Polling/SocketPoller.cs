using System.Diagnostics;
using System.Runtime.CompilerServices;
using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Waits for many sockets at once. Level triggered: every poll reports an item as long as it is ready.</summary>
/// <remarks>
/// <para>
/// Thread-safe: items may be added, changed and removed during a poll, which then uses them. Polling allocates nothing, except one task for
/// a wait that blocks a pool thread.
/// </para>
/// <para>
/// A disposed socket ends every poll with <see cref="ObjectDisposedException"/>, and a shut-down context with
/// <see cref="ZlinkError.ContextTerminated"/>, until it is removed.
/// </para>
/// <para>
/// With several receivers use the Try forms, because another one may take the message. What is no socket of this library joins with an
/// inproc PAIR: its task sends a message, for which the poller waits.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// using var poller = new SocketPoller();
/// poller.Add(requests, PollEvents.In);
/// poller.Add(prices, PollEvents.In);
/// var results = new PollResult[2];
/// int count = poller.Poll(results, TimeSpan.FromSeconds(1));
/// </code>
/// </example>
public sealed class SocketPoller : IDisposable
{
    // Before a poll blocks it checks repeatedly for some microseconds, as a blocking receive does.
    private const int MaxRechecks = 4;

    private readonly Lock _gate = new();
    private readonly ReadinessWait _wait = new();
    private readonly OrderedDictionary<ZlinkSocket, PollItem> _bySocket = [];
    private PollItem[]? _items; // A copy of these for polls, made when one needs it.
    private ITimer? _alarm; // Of the last wait with a timeout, for the next one.
    private int _first;
    private SpinBudget _spin;
    private bool _isDisposed;

    /// <summary>The number of items.</summary>
    public int Count => Items.Length;

    /// <summary>Adds a socket.</summary>
    /// <remarks>
    /// A STREAM socket is ready for <see cref="PollEvents.In"/> while <see cref="StreamSocket.TryReceive"/> would return a message or
    /// event. It is always ready for <see cref="PollEvents.Out"/>, which ends every wait at once: to wait for one peer's capacity, await
    /// its send. A poll does not see what a <see cref="StreamHandler"/> or <see cref="StreamPipe"/> gets.
    /// </remarks>
    /// <param name="socket">The socket. The poller does not own it.</param>
    /// <param name="events">The events.</param>
    /// <param name="userState">Returned with its results.</param>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    /// <exception cref="ArgumentException">It was added before.</exception>
    /// <exception cref="ObjectDisposedException">The poller is disposed.</exception>
    public void Add(ZlinkSocket socket, PollEvents events, object? userState = null)
    {
        ArgumentNullException.ThrowIfNull(socket);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (_bySocket.ContainsKey(socket))
            {
                throw new ArgumentException("The poller already has this socket: use Modify.", nameof(socket));
            }

            var item = new PollItem(socket, events, userState);
            item.Watch(_wait);
            _bySocket.Add(socket, item);
            Volatile.Write(ref _items, null);
        }

        _wait.OnMayBeReady();
    }

    /// <summary>Changes the events of a socket.</summary>
    /// <param name="socket">A socket that was added.</param>
    /// <param name="events">The new events.</param>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    /// <exception cref="ArgumentException">It was not added.</exception>
    /// <exception cref="ObjectDisposedException">The poller is disposed.</exception>
    public void Modify(ZlinkSocket socket, PollEvents events)
    {
        ArgumentNullException.ThrowIfNull(socket);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (!_bySocket.TryGetValue(socket, out PollItem? before))
            {
                throw new ArgumentException("The poller does not have this socket: use Add.", nameof(socket));
            }

            PollItem item = before.With(events);
            item.Watch(_wait);
            before.Unwatch(_wait);
            _bySocket[socket] = item;
            Volatile.Write(ref _items, null);
        }

        _wait.OnMayBeReady();
    }

    /// <summary>Removes a socket, disposed or not.</summary>
    /// <param name="socket">The socket.</param>
    /// <returns>False if it was not added.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public bool Remove(ZlinkSocket socket)
    {
        ArgumentNullException.ThrowIfNull(socket);
        lock (_gate)
        {
            if (!_bySocket.Remove(socket, out PollItem? item))
            {
                return false;
            }

            item.Unwatch(_wait);
            Volatile.Write(ref _items, null);
        }

        _wait.OnMayBeReady();
        return true;
    }

    /// <summary>Waits until an item is ready. Blocks the calling thread. Without items it waits for the whole time.</summary>
    /// <param name="results">Receives the ready items; not empty. Items that do not fit come first at the next poll.</param>
    /// <param name="timeout">The longest wait: zero for one check, <see cref="Timeout.InfiniteTimeSpan"/> for no limit.</param>
    /// <returns>How many items are ready. 0 after the time has passed.</returns>
    /// <exception cref="ArgumentException"><paramref name="results"/> is empty.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The poller, or one of its sockets, is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated: the context of one of its sockets was shut down.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait on a shard.</exception>
    public int Poll(Span<PollResult> results, TimeSpan timeout)
    {
        timeout = OptionRange.Time(timeout, mayBeInfinite: true);
        int count = CheckItems(results);
        if (count > 0)
        {
            return count;
        }

        CallerFlush.Run();
        return timeout == TimeSpan.Zero ? 0 : Block(results, timeout);
    }

    /// <summary>Waits until an item is ready. Without items it waits until there are some.</summary>
    /// <param name="results">Receives the ready items; not empty. Items that do not fit come first at the next poll.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>How many items are ready, at least 1. Allocates nothing.</returns>
    /// <exception cref="ArgumentException"><paramref name="results"/> is empty.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The poller, or one of its sockets, is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated: the context of one of its sockets was shut down.</exception>
    public ValueTask<int> PollAsync(Memory<PollResult> results, CancellationToken cancellationToken = default) =>
        PollAsync(results, Timeout.InfiniteTimeSpan, cancellationToken);

    /// <inheritdoc cref="PollAsync(Memory{PollResult}, CancellationToken)"/>
    /// <summary>
    /// Waits until an item is ready or the time has passed. Without items it waits until there are some.
    /// </summary>
    /// <param name="results">Receives the ready items; not empty. Items that do not fit come first at the next poll.</param>
    /// <param name="timeout">
    /// The longest wait in real time: zero for one check, <see cref="Timeout.InfiniteTimeSpan"/> for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>How many items are ready. 0 after the time has passed. Allocates nothing.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    public ValueTask<int> PollAsync(Memory<PollResult> results, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        timeout = OptionRange.Time(timeout, mayBeInfinite: true);
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<int>(cancellationToken);
        }

        int count = CheckItems(results.Span);
        if (count > 0)
        {
            return new ValueTask<int>(count);
        }

        CallerFlush.Run();
        return timeout == TimeSpan.Zero ? new ValueTask<int>(0) : WaitAsync(results, timeout, cancellationToken);
    }

    /// <summary>Removes all items and ends every poll. Idempotent.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            foreach (PollItem item in _bySocket.Values)
            {
                item.Unwatch(_wait);
            }

            _bySocket.Clear();
            Volatile.Write(ref _items, null);
        }

        _wait.OnMayBeReady();
    }

    private PollItem[] Items
    {
        get
        {
            if (Volatile.Read(ref _items) is { } made)
            {
                return made;
            }

            lock (_gate)
            {
                return _items ??= [.. _bySocket.Values];
            }
        }
    }

    private int CheckItems(Span<PollResult> results)
    {
        if (results.IsEmpty)
        {
            throw new ArgumentException("The buffer is empty: pass one for at least one result.", nameof(results));
        }

        ObjectDisposedException.ThrowIf(Volatile.Read(ref _isDisposed), this);
        PollItem[] items = Items;
        int first = _first < items.Length ? _first : 0;
        int count = 0;
        for (int i = 0; i < items.Length; i++)
        {
            int index = first + i < items.Length ? first + i : first + i - items.Length;
            PollItem item = items[index];
            PollEvents ready;
            try
            {
                ready = item.Check();
            }
            catch (Exception) when (Array.IndexOf(Items, item) < 0)
            {
                continue; // Removed meanwhile.
            }

            if (ready == PollEvents.None)
            {
                continue;
            }

            if (count == results.Length)
            {
                // Full: this item comes first the next time. Later items were not checked, so a poll of a thousand sockets for one result
                // costs what it finds.
                _first = index;
                return count;
            }

            results[count++] = item.ResultOf(ready);
        }

        return count;
    }

    private int Block(Span<PollResult> results, TimeSpan timeout)
    {
        BlockingWait.ThrowIfOnShard(nameof(PollAsync));
        long started = Stopwatch.GetTimestamp();
        PollItem[] items = Items;
        if (items.Length is > 0 and <= MaxRechecks)
        {
            _spin.Wait(items, static items => Array.Exists(items, static item => item.Recheck()));
        }

        for (TimeSpan left = timeout; ; left = Left(timeout, started))
        {
            int begun = _wait.Begin();
            int count = CheckItems(results);
            if (count > 0 || left == TimeSpan.Zero)
            {
                return count;
            }

            _wait.Block(begun, left);
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> WaitAsync(Memory<PollResult> results, TimeSpan timeout, CancellationToken cancellation)
    {
        long started = Stopwatch.GetTimestamp();
        ITimer? alarm = timeout == Timeout.InfiniteTimeSpan ? null : Interlocked.Exchange(ref _alarm, null) ?? NewAlarm();
        try
        {
            for (TimeSpan left = timeout; ; left = Left(timeout, started))
            {
                int begun = _wait.Begin();
                int count = CheckItems(results.Span);
                if (count > 0 || left == TimeSpan.Zero)
                {
                    return count;
                }

                // Not before that time: timers count whole milliseconds.
                alarm?.Change(TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds)), Timeout.InfiniteTimeSpan);
                await _wait.WaitAsync(begun, cancellation).ConfigureAwait(false);
            }
        }
        finally
        {
            // An alarm that is just firing makes a wait check once more than needed.
            alarm?.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            if (alarm is not null && Interlocked.CompareExchange(ref _alarm, alarm, null) is not null)
            {
                await alarm.DisposeAsync().ConfigureAwait(false);
            }
        }
    }

    private static TimeSpan Left(TimeSpan timeout, long started)
    {
        TimeSpan left = timeout - Stopwatch.GetElapsedTime(started);
        return timeout == Timeout.InfiniteTimeSpan ? timeout : left > TimeSpan.Zero ? left : TimeSpan.Zero;
    }

    /// <summary>In real time, as blocking waits: a poller has no context with a clock.</summary>
    private ITimer NewAlarm() => DefaultContext.Run(() => TimeProvider.System.CreateTimer(
        static wait => ((ReadinessWait)wait!).OnMayBeReady(), _wait, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan));
}
