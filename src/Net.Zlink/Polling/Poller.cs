using System.Diagnostics;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Waits for many sockets, and monitors of them, at once, level triggered: an item is reported as long as it is ready, at every
/// poll.</summary>
/// <remarks>
/// <para>
/// Safe for any number of threads: items may be added, changed and removed while a poll waits, and the poll goes on with what there is
/// then. Polling allocates nothing, except one task per wait where a thread of the thread pool blocks.
/// </para>
/// <para>
/// A disposed socket ends every poll with <see cref="ObjectDisposedException"/>, and a context that was shut down with
/// <see cref="ZlinkError.ContextTerminated"/>, also where nothing is asked of it and whatever else is ready, until it is removed.
/// </para>
/// <para>
/// Plain sockets are for the few that a program has beside the sockets of this library: each costs a system call per event and look; while
/// a poll waits for some, one background thread of the process selects among them. Remove a plain socket before you dispose it. Where
/// several receivers share a socket, what a poll found may be gone when it is taken: use the Try forms.
/// </para>
/// </remarks>
public sealed class Poller : IDisposable
{
    // Before a poll blocks it looks again and again for some microseconds, as a blocking receive does; more items than this take longer to
    // look at than a peer takes to answer.
    private const int MaxRechecks = 4;

    private readonly Lock _gate = new();
    private readonly ReadinessWait _wait = new();
    private readonly PollSignals _alarms = new();

    // In the order in which they were added. Both are under the lock, and changed in a time that does not depend on how many there are.
    private readonly LinkedList<PollItem> _order = [];
    private readonly Dictionary<object, LinkedListNode<PollItem>> _bySocket = new(ReferenceEqualityComparer.Instance);

    // The same as a poll walks it; null behind a change, until somebody asks.
    private PollItems? _arrays;
    private int _first;
    private SpinBudget _spin;
    private bool _isDisposed;

    /// <summary>Number of items.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _order.Count;
            }
        }
    }

    /// <summary>Adds a socket of this library.</summary>
    /// <remarks>
    /// A STREAM socket is ready for <see cref="PollEvents.In"/> while a <see cref="StreamSocket.TryReceive"/> would find a message or an
    /// event, and always for <see cref="PollEvents.Out"/>, which ends every wait at once: for room at one peer await its send.
    /// What goes to a <see cref="StreamHandler"/> or a <see cref="StreamPipe"/> is not received from the socket, so a poll does not see it
    /// either.
    /// </remarks>
    /// <param name="socket">The socket; the poller does not own it.</param>
    /// <param name="events">What to wait for; <see cref="PollEvents.Error"/> never happens.</param>
    /// <param name="userState">Comes with its results.</param>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    /// <exception cref="ArgumentException">It is there already.</exception>
    /// <exception cref="ObjectDisposedException">The poller is disposed.</exception>
    public void Add(ZlinkSocket socket, PollEvents events, object? userState = null)
    {
        ArgumentNullException.ThrowIfNull(socket);
        Add(socket.Polled(events, userState), socket);
    }

    /// <summary>Adds a plain socket of any kind, also one that listens. It keeps its data: a poll takes nothing from it and changes no
    /// setting of it.</summary>
    /// <param name="socket">The socket; the poller does not own it.</param>
    /// <param name="events">What to wait for.</param>
    /// <param name="userState">Comes with its results.</param>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    /// <exception cref="ArgumentException">It is there already.</exception>
    /// <exception cref="ObjectDisposedException">The poller is disposed.</exception>
    public void Add(Socket socket, PollEvents events, object? userState = null)
    {
        ArgumentNullException.ThrowIfNull(socket);
        Add(new PlainPollItem(socket, events, userState), socket);
    }

    /// <summary>Adds a monitor: it is ready for <see cref="PollEvents.In"/> while it has events to take with
    /// <see cref="SocketMonitor.TryRead"/>. When its socket is disposed the last is <see cref="SocketEventTypes.MonitorStopped"/>; behind
    /// that it is never ready.</summary>
    /// <param name="monitor">The monitor; the poller does not own it.</param>
    /// <param name="userState">Comes with its results.</param>
    /// <exception cref="ArgumentNullException"><paramref name="monitor"/> is null.</exception>
    /// <exception cref="ArgumentException">It is there already.</exception>
    /// <exception cref="ObjectDisposedException">The poller is disposed.</exception>
    public void Add(SocketMonitor monitor, object? userState = null)
    {
        ArgumentNullException.ThrowIfNull(monitor);
        Add(new MonitorPollItem(monitor, userState), monitor);
    }

    /// <summary>Changes what is waited for.</summary>
    /// <param name="socket">A socket that was added.</param>
    /// <param name="events">What to wait for from now on.</param>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    /// <exception cref="ArgumentException">It is not there.</exception>
    /// <exception cref="ObjectDisposedException">The poller is disposed.</exception>
    public void Modify(ZlinkSocket socket, PollEvents events)
    {
        ArgumentNullException.ThrowIfNull(socket);
        Replace(socket, events);
    }

    /// <summary>Changes what is waited for.</summary>
    /// <param name="socket">A plain socket that was added.</param>
    /// <param name="events">What to wait for from now on.</param>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    /// <exception cref="ArgumentException">It is not there.</exception>
    /// <exception cref="ObjectDisposedException">The poller is disposed.</exception>
    public void Modify(Socket socket, PollEvents events)
    {
        ArgumentNullException.ThrowIfNull(socket);
        Replace(socket, events);
    }

    /// <summary>Takes a socket out, disposed or not.</summary>
    /// <param name="socket">The socket.</param>
    /// <returns>False if it was not there.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public bool Remove(ZlinkSocket socket)
    {
        ArgumentNullException.ThrowIfNull(socket);
        return RemoveItem(socket);
    }

    /// <summary>Takes a plain socket out, disposed or not. Where a poll waits for it, this blocks for some 50 microseconds, until nothing
    /// holds the socket any more and it can be closed in order.</summary>
    /// <param name="socket">The socket.</param>
    /// <returns>False if it was not there.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public bool Remove(Socket socket)
    {
        ArgumentNullException.ThrowIfNull(socket);
        return RemoveItem(socket);
    }

    /// <summary>Takes a monitor out, disposed or not.</summary>
    /// <param name="monitor">The monitor.</param>
    /// <returns>False if it was not there.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="monitor"/> is null.</exception>
    public bool Remove(SocketMonitor monitor)
    {
        ArgumentNullException.ThrowIfNull(monitor);
        return RemoveItem(monitor);
    }

    /// <summary>Waits until an item is ready, blocking the calling thread. Without items it waits out the time.</summary>
    /// <param name="results">Where to put what is ready; not empty. Where more is ready than fits, the rest comes first at the next
    /// poll.</param>
    /// <param name="timeout">How long; zero to look once, <see cref="Timeout.InfiniteTimeSpan"/> for as long as it takes.</param>
    /// <returns>How many items are ready; 0 when the time has passed.</returns>
    /// <exception cref="ArgumentException"><paramref name="results"/> is empty.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    /// <exception cref="ObjectDisposedException">The poller, or one of its sockets, is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated: the context of one of its sockets was shut down. TooManySockets: it has plain
    /// sockets, and the process no descriptor for what wakes those that wait for them.</exception>
    /// <exception cref="InvalidOperationException">It would have to wait, and was called on a shard.</exception>
    public int Poll(Span<PollResult> results, TimeSpan timeout)
    {
        OptionRange.Time(timeout, mayBeInfinite: true);
        int count = CheckItems(results);
        if (count > 0)
        {
            return count;
        }

        CallerFlush.Run();
        return timeout == TimeSpan.Zero ? 0 : Block(results, timeout);
    }

    /// <summary>Waits until an item is ready. Without items it waits until there are some.</summary>
    /// <param name="results">Where to put what is ready; not empty. Where more is ready than fits, the rest comes first at the next
    /// poll.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many items are ready, at least 1. Complete at once if there are some; allocates nothing either way.</returns>
    /// <exception cref="ArgumentException"><paramref name="results"/> is empty.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The poller, or one of its sockets, is disposed.</exception>
    /// <exception cref="ZlinkException">ContextTerminated: the context of one of its sockets was shut down. TooManySockets: it has plain
    /// sockets, and the process no descriptor for what wakes those that wait for them.</exception>
    public ValueTask<int> PollAsync(Memory<PollResult> results, CancellationToken cancellationToken = default) =>
        PollAsync(results, Timeout.InfiniteTimeSpan, cancellationToken);

    /// <inheritdoc cref="PollAsync(Memory{PollResult}, CancellationToken)"/>
    /// <summary>Waits until an item is ready or the time has passed, as a loop with <see cref="Porting.ZlinkTimers.TimeUntilNext"/> does.
    /// Without items it waits until there are some, or out the time.</summary>
    /// <param name="results">Where to put what is ready; not empty. Where more is ready than fits, the rest comes first at the next
    /// poll.</param>
    /// <param name="timeout">How long, in real time; zero to look once, <see cref="Timeout.InfiniteTimeSpan"/> for as long as it
    /// takes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many items are ready; 0 when the time has passed. Allocates nothing either way.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is negative and not infinite.</exception>
    public ValueTask<int> PollAsync(Memory<PollResult> results, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        OptionRange.Time(timeout, mayBeInfinite: true);
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

    /// <summary>Takes all items out and ends every poll. Idempotent.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            foreach (PollItem item in _order)
            {
                item.Unwatch(_wait);
            }

            _order.Clear();
            _bySocket.Clear();
            Volatile.Write(ref _arrays, null);
        }

        Changed();
    }

    /// <summary>The plain sockets that are waited for; unchangeable.</summary>
    internal PollItem[] Plain => Arrays.Plain;

    private PollItems Arrays
    {
        get
        {
            if (Volatile.Read(ref _arrays) is { } made)
            {
                return made;
            }

            lock (_gate)
            {
                return _arrays ??= new PollItems([.. _order]);
            }
        }
    }

    /// <summary>A plain socket may be ready: those who wait look.</summary>
    internal void OnMayBeReady() => _wait.OnMayBeReady();

    private void Add(PollItem item, object socket)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (_bySocket.ContainsKey(socket))
            {
                throw new ArgumentException(socket is SocketMonitor ? "The poller has this monitor already."
                    : "The poller has this socket already: use Modify.", nameof(socket));
            }

            item.Watch(_wait);
            _bySocket.Add(socket, _order.AddLast(item));
            Volatile.Write(ref _arrays, null);
        }

        Changed();
    }

    private void Replace(object socket, PollEvents events)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (!_bySocket.TryGetValue(socket, out LinkedListNode<PollItem>? place))
            {
                throw new ArgumentException("The poller does not have this socket: use Add.", nameof(socket));
            }

            PollItem item = place.Value.With(events);
            item.Watch(_wait);
            place.Value.Unwatch(_wait);
            place.Value = item;
            Volatile.Write(ref _arrays, null);
        }

        Changed();
    }

    private bool RemoveItem(object socket)
    {
        lock (_gate)
        {
            if (!_bySocket.Remove(socket, out LinkedListNode<PollItem>? place))
            {
                return false;
            }

            place.Value.Unwatch(_wait);
            _order.Remove(place);
            Volatile.Write(ref _arrays, null);
        }

        Changed();
        return true;
    }

    /// <summary>Those who wait go on with what there is now.</summary>
    private void Changed()
    {
        PlainSocketWatch.Leave(this);
        OnMayBeReady();
    }

    private int CheckItems(Span<PollResult> results)
    {
        if (results.IsEmpty)
        {
            throw new ArgumentException("There must be room for at least one result.", nameof(results));
        }

        ObjectDisposedException.ThrowIf(Volatile.Read(ref _isDisposed), this);
        PollItem[] items = Arrays.All;
        int first = _first < items.Length ? _first : 0;
        int count = 0;
        for (int i = 0; i < items.Length; i++)
        {
            int index = first + i;
            PollItem item = items[index < items.Length ? index : index - items.Length];
            PollEvents ready;
            try
            {
                ready = item.Check();
            }
            catch (Exception)
            {
                // In here, not in a filter, which would run while the look still holds the item: whoever takes it out waits for that under
                // the lock that this needs.
                if (Array.IndexOf(Arrays.All, item) < 0)
                {
                    continue; // Taken out meanwhile.
                }

                throw;
            }

            if (ready == PollEvents.None)
            {
                continue;
            }

            if (count == results.Length)
            {
                // No room: it comes first the next time. Those behind it were not looked at, so that a poll of a thousand sockets for one
                // result costs what it finds.
                _first = index < items.Length ? index : index - items.Length;
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
        PollItem[] items = Arrays.All;
        if (items.Length is > 0 and <= MaxRechecks && _spin.Wait(items, static items => Array.Exists(items, static item => item.Recheck())))
        {
            int found = CheckItems(results);
            if (found > 0)
            {
                return found;
            }
        }

        TimeSpan left = timeout;
        while (true)
        {
            Waiter<bool> waiter = _wait.Begin(blocking: true);
            int count = CheckBeforeWait(waiter, results, blocking: true);
            if (count > 0)
            {
                return count;
            }

            bool updates = _wait.Block(waiter, left);
            count = CheckItems(results);
            if (count > 0 || !updates)
            {
                return count;
            }

            if (timeout != Timeout.InfiniteTimeSpan)
            {
                left = timeout - Stopwatch.GetElapsedTime(started);
                if (left <= TimeSpan.Zero)
                {
                    return 0;
                }
            }
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> WaitAsync(Memory<PollResult> results, TimeSpan timeout, CancellationToken cancellation)
    {
        long started = Stopwatch.GetTimestamp();
        ITimer? alarm = timeout == Timeout.InfiniteTimeSpan ? null : _alarms.Rent(_wait);
        try
        {
            int count = 0;
            while (count == 0)
            {
                Waiter<bool> waiter = _wait.Begin(blocking: false);
                count = CheckBeforeWait(waiter, results.Span, blocking: false);
                if (count > 0)
                {
                    break;
                }

                TimeSpan left = timeout - Stopwatch.GetElapsedTime(started);
                if (alarm is not null && left <= TimeSpan.Zero)
                {
                    _wait.Leave(waiter, blocking: false);
                    return 0;
                }

                PollSignals.Set(alarm, left); // Only now that the wait has begun: one that goes off before finds nobody to wake.
                await ReadinessWait.WaitAsync(waiter, cancellation).ConfigureAwait(false);
                count = CheckItems(results.Span);
            }

            return count;
        }
        finally
        {
            _alarms.Return(alarm);
        }
    }

    /// <summary>The look between the beginning of a wait and the wait itself, which does not follow where it finds something.</summary>
    private int CheckBeforeWait(Waiter<bool> waiter, Span<PollResult> results, bool blocking)
    {
        int count;
        try
        {
            PlainSocketWatch.Arm(this);
            count = CheckItems(results);
        }
        catch
        {
            _wait.Leave(waiter, blocking);
            throw;
        }

        if (count > 0)
        {
            _wait.Leave(waiter, blocking);
        }

        return count;
    }
}
