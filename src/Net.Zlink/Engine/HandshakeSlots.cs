using Net.Zlink.Flow;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

internal sealed class HandshakeSlots(TimeProvider time)
{
    /// <summary>
    /// How long a handshake may wait for its peer in total. Nine thousand TLS clients that connected at once, on the same two processors,
    /// made it wait at most 1.2 s.
    /// </summary>
    public static readonly TimeSpan GracePeriod = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan CheckInterval = GracePeriod / 20;

    private readonly TimeProvider _time = time;
    private readonly Lock _gate = new();
    private readonly HashSet<HandshakeSlot> _running = [];
    private ITimer? _checkTimer;
    private int _waiting;

    public int Waiting => Volatile.Read(ref _waiting);

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

    public void BeginWait()
    {
        lock (_gate)
        {
            _waiting++;
            _checkTimer ??= DefaultContext.Run(
                () => _time.CreateTimer(static slots => ((HandshakeSlots)slots!).PreemptSlowest(), this, CheckInterval, CheckInterval));
        }
    }

    public void EndWait()
    {
        lock (_gate)
        {
            if (--_waiting == 0)
            {
                _checkTimer?.Dispose();
                _checkTimer = null;
            }
        }
    }

    public HandshakeSlot Acquire(CancellationToken cancellation)
    {
        var slot = new HandshakeSlot(this, cancellation);
        lock (_gate)
        {
            _running.Add(slot);
        }

        return slot;
    }

    private void PreemptSlowest()
    {
        List<HandshakeSlot> slow;
        int leaving;
        lock (_gate)
        {
            leaving = _running.Count(static slot => slot.IsPreempted);
            slow = [.. _running.Where(static slot => !slot.IsPreempted && slot.Waits.IsWaiting && slot.Waits.Total >= GracePeriod)];
        }

        foreach (HandshakeSlot slot in slow.OrderByDescending(static slot => slot.Waits.Total).Take(Waiting - leaving))
        {
            slot.Preempt();
        }
    }

    internal sealed class HandshakeSlot
    {
        private readonly HandshakeSlots _slots;
        private readonly CancellationToken _cancellation;
        // No timer and no parent: it needs no Dispose, and may be cancelled at any time.
        private readonly CancellationTokenSource _preempted = new();
        private readonly CancellationTokenSource _linked;

        public HandshakeSlot(HandshakeSlots slots, CancellationToken cancellation)
        {
            _slots = slots;
            _cancellation = cancellation;
            _linked = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _preempted.Token);
            Waits = new PeerWait(slots._time);
        }

        public PeerWait Waits { get; }

        public CancellationToken Cancellation => _linked.Token;

        public bool IsPreempted => _preempted.IsCancellationRequested && !_cancellation.IsCancellationRequested;

        public void Preempt() => _ = _preempted.CancelAsync();

        public void Release()
        {
            lock (_slots._gate)
            {
                _slots._running.Remove(this);
            }

            _linked.Dispose();
        }
    }
}
