using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>
/// Limits the transport handshakes of accepted connections. Only accepted connections count: otherwise two sockets of one context could
/// wait for each other. A silent peer (a scanner, a probe) uses no slot and has the time of one phase. A free slot goes to the newest
/// waiter, each third one to the oldest. While any wait, the slowest stalled handshakes are preempted: otherwise stalled peers could block
/// everyone.
/// </summary>
/// <remarks>
/// In turn, 8,000 peers that never finish kept a good client waiting for longer than it waits. Newest first, it is behind those only that
/// came since. But where they come again as fast as slots are freed, a client that was passed once stayed behind until its time was up:
/// one got in after 30.7 s, one not within 60 s. Waiters that stay behind all the same end with the time of their phase.
/// </remarks>
internal sealed class HandshakeLimiter(int maxRunning, TimeProvider time)
{
    /// <summary>A TLS handshake costs about 50 KB, so a flood of stalled clients holds 50 MB.</summary>
    public const int Default = 1024;

    /// <summary>
    /// How long a handshake may wait for its peer in total, while others wait for its slot and those that complete hardly wait. With 1,024
    /// slots, 680 are freed each second.
    /// </summary>
    public static readonly TimeSpan ShortestGrace = TimeSpan.FromSeconds(1.5);

    /// <summary>The same where handshakes that complete wait for long, too: then it is a crowd.</summary>
    public static readonly TimeSpan LongestGrace = TimeSpan.FromSeconds(5);

    // 9,000 TLS clients at once on the same two processors wait for up to 1.2 s each. With 1 s for all, 7,631 of them were preempted.
    private const int GraceFactor = 4;

    private const int MeanOf = 8;

    private const int OldestEveryNth = 3;

    private static readonly TimeSpan CheckInterval = ShortestGrace / 20;

    private readonly Lock _gate = new();
    private readonly HashSet<HandshakeSlot> _running = [];
    private readonly LinkedList<HandshakeSlot> _waiting = []; // Newest first.
    private ITimer? _checkTimer;
    private int _turns;
    private TimeSpan _usualWait; // Of those that completed lately.

    private TimeProvider Time => time;

    public int Running => _running.Count;

    public int Waiting => _waiting.Count;

    public int Stalled
    {
        get
        {
            lock (_gate)
            {
                return _running.Count(static slot => slot.Waits.IsWaiting);
            }
        }
    }

    public async Task<UpgradeResult> RunAsync(WireUpgrade upgrade, SocketWire raw, BufferPool pool, CancellationToken cancellation)
    {
        Socket socket = raw.Socket;
        // Begun on the accept loop's stack: the runtime spreads sockets over its polling threads by their first operation, so connections
        // spread evenly. In the order of handshakes, an echo over TLS had a p99 up to 50 % higher (docs/benchmarks/log.md).
        Task<UpgradeResult?> first = FirstBytesAsync(upgrade, socket, cancellation);
        bool hadToWait = !first.IsCompleted;
        UpgradeResult? failure = await first.ConfigureAwait(false);

        int pollingThread = hadToWait && !Thread.CurrentThread.IsThreadPoolThread ? Environment.CurrentManagedThreadId : 0;

        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        if (failure is { } early)
        {
            socket.Dispose();
            return early;
        }

        if (await AcquireAsync(socket, upgrade.SlotWait, cancellation).ConfigureAwait(false) is not { } slot)
        {
            socket.Dispose();
            return cancellation.IsCancellationRequested ? UpgradeResult.Cancelled
                : CreateTimedOut($"all handshake slots stayed in use (MaxHandshakes is {maxRunning})");
        }

        Task errorResponse = Task.CompletedTask;
        try
        {
            UpgradeResult result = await upgrade.RunAsync(raw, pool, time, slot.Waits, slot.Cancellation).ConfigureAwait(false);
            errorResponse = result.ErrorResponse ?? errorResponse;
            if (result.Wire is { } wire)
            {
                CountCompleted(slot);
                wire.PollingThread = wire.PollingThread == 0 ? pollingThread : wire.PollingThread;
                return result;
            }

            return result.Error == SocketError.OperationAborted && slot.IsPreempted
                ? CreateTimedOut($"the peer had delayed its handshake for {slot.Grace.TotalMilliseconds:0} ms "
                    + $"while others waited for a slot (MaxHandshakes is {maxRunning})")
                : result;
        }
        finally
        {
            // A rejected peer that stays connected still holds its slot: a flood of them costs no more than one of slow peers.
            _ = RunDetachedAsync(slot, errorResponse);
        }
    }

    /// <summary>Acquires a slot until <see cref="HandshakeSlot.Release"/>. Null: none became free in time.</summary>
    internal async Task<HandshakeSlot?> AcquireAsync(Socket socket, TimeSpan limit, CancellationToken cancellation)
    {
        var slot = new HandshakeSlot(this, socket, cancellation);
        Deadline deadline;
        lock (_gate)
        {
            if (_running.Count < maxRunning)
            {
                _running.Add(slot);
                return slot;
            }

            slot.Waiter = _waiting.AddFirst(slot);
            deadline = new Deadline(limit, time, cancellation); // Its clock runs once others see that it waits.
            _checkTimer ??= DefaultContext.Run(() => time.CreateTimer(
                static limiter => ((HandshakeLimiter)limiter!).PreemptSlowest(), this, CheckInterval, CheckInterval));
        }

        using (deadline)
        await using (deadline.Token.UnsafeRegister(static slot => ((HandshakeSlot)slot!).StopWaiting(), slot).ConfigureAwait(false))
        {
            return await slot.Acquired.ConfigureAwait(false) ? slot : null;
        }
    }

    private static UpgradeResult CreateTimedOut(string why) => new(null, HandshakeFailure.TimedOut, SocketError.TimedOut, why);

    private async Task<UpgradeResult?> FirstBytesAsync(WireUpgrade upgrade, Socket socket, CancellationToken cancellation)
    {
        using Deadline deadline = upgrade.StartPhase(time, cancellation);
        try
        {
            await socket.ReceiveAsync(Memory<byte>.Empty, SocketFlags.None, deadline.Token).ConfigureAwait(false);
            return null;
        }
        catch (Exception e) when (IoStreamErrors.IsOfStream(e))
        {
            return upgrade.ResultOf(upgrade.FirstPhase, e, deadline, cancellation);
        }
    }

    private static async Task RunDetachedAsync(HandshakeSlot slot, Task errorResponse)
    {
        await errorResponse.ConfigureAwait(false);
        slot.Release();
    }

    private void CountCompleted(HandshakeSlot slot)
    {
        TimeSpan wait = slot.Waits.Total;
        lock (_gate)
        {
            _usualWait += (wait - _usualWait) / MeanOf;
        }
    }

    private void PreemptSlowest()
    {
        List<HandshakeSlot> slow;
        TimeSpan grace;
        int wanted;
        lock (_gate)
        {
            TimeSpan usual = GraceFactor * _usualWait;
            grace = usual < ShortestGrace ? ShortestGrace : usual < LongestGrace ? usual : LongestGrace;
            wanted = _waiting.Count - _running.Count(static slot => slot.IsPreempted); // Those preempted before are still ending.
            slow = [.. _running.Where(slot => !slot.IsPreempted && slot.Waits.IsWaiting && slot.Waits.Total >= grace)];
        }

        foreach (HandshakeSlot slot in slow.OrderByDescending(static slot => slot.Waits.Total).Where(static slot => !slot.HasInput)
            .Take(wanted))
        {
            slot.Preempt(grace);
        }
    }

    private bool TryRemoveWaiter(HandshakeSlot slot)
    {
        if (slot.Waiter is not { } waiter)
        {
            return false;
        }

        slot.Waiter = null;
        _waiting.Remove(waiter);
        if (_waiting.Count == 0)
        {
            _checkTimer?.Dispose();
            _checkTimer = null;
        }

        return true;
    }

    internal sealed class HandshakeSlot
    {
        private readonly HandshakeLimiter _limiter;
        private readonly Socket _socket;
        private readonly CancellationToken _cancellation;
        private readonly TaskCompletionSource<bool> _acquired = new(TaskCreationOptions.RunContinuationsAsynchronously);
        // No timer and no parent: it needs no Dispose, and may be cancelled at any time.
        private readonly CancellationTokenSource _preempted = new();
        private readonly CancellationTokenSource _linked;

        public HandshakeSlot(HandshakeLimiter limiter, Socket socket, CancellationToken cancellation)
        {
            _limiter = limiter;
            _socket = socket;
            _cancellation = cancellation;
            _linked = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _preempted.Token);
            Waits = new PeerWait(limiter.Time);
        }

        public LinkedListNode<HandshakeSlot>? Waiter { get; set; }

        public Task<bool> Acquired => _acquired.Task;

        public PeerWait Waits { get; }

        public CancellationToken Cancellation => _linked.Token;

        public bool IsPreempted => _preempted.IsCancellationRequested && !_cancellation.IsCancellationRequested;

        public TimeSpan Grace { get; private set; }

        /// <summary>It does not wait for its peer any more but for this process, which is busy.</summary>
        public bool HasInput
        {
            get
            {
                try
                {
                    return _socket.Available > 0;
                }
                catch (Exception e) when (e is SocketException or ObjectDisposedException)
                {
                    return false; // It has just ended.
                }
            }
        }

        public void Preempt(TimeSpan grace)
        {
            Grace = grace;
            _ = _preempted.CancelAsync();
        }

        public void StopWaiting()
        {
            lock (_limiter._gate)
            {
                if (!_limiter.TryRemoveWaiter(this))
                {
                    return;
                }
            }

            _linked.Dispose();
            _acquired.SetResult(false);
        }

        public void Release()
        {
            HandshakeSlot? next;
            lock (_limiter._gate)
            {
                _limiter._running.Remove(this);
                LinkedList<HandshakeSlot> waiting = _limiter._waiting;
                next = (++_limiter._turns % OldestEveryNth == 0 ? waiting.Last : waiting.First)?.Value;
                if (next is not null)
                {
                    _limiter.TryRemoveWaiter(next);
                    _limiter._running.Add(next);
                }
            }

            _linked.Dispose();
            next?._acquired.SetResult(true);
        }
    }
}
