using Net.Zlink.Flow;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>The handshakes that run. While others wait in line, those whose peers take their time give way, the slowest first, one for each that waits.</summary>
/// <param name="time">The clock.</param>
internal sealed class HandshakeSlots(TimeProvider time)
{
    /// <summary>
    /// How long a handshake may have waited for its peer, its waits together, before it gives way. A peer answers within a round trip; nine thousand TLS clients of one program that all connected at once, to a server on the same two processors, let it wait for 1.2 s at most.
    /// So these are peers that never will, and with 1,024 places 200 of them make room each second.
    /// </summary>
    public static readonly TimeSpan GracePeriod = TimeSpan.FromSeconds(5);

    // A twentieth of the patience: short beside the wait in line that it ends, and a look takes microseconds.
    private static readonly TimeSpan CheckInterval = GracePeriod / 20;

    private readonly TimeProvider _time = time;
    private readonly Lock _gate = new();
    private readonly HashSet<HandshakeSlot> _running = [];
    private ITimer? _checkTimer;
    private int _waiting;

    /// <summary>How many wait in line for a place.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    /// <summary>How many of those that run wait for their peers now.</summary>
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

    /// <summary>Someone waits in line, until <see cref="EndWait"/>.</summary>
    public void BeginWait()
    {
        lock (_gate)
        {
            _waiting++;
            _checkTimer ??= DefaultContext.Run(() => _time.CreateTimer(static places => ((HandshakeSlots)places!).PreemptSlowest(), this, CheckInterval, CheckInterval));
        }
    }

    /// <summary>One that waited has a place, or does not want it any more.</summary>
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

    /// <summary>A handshake begins, until <see cref="HandshakeSlot.Release"/>.</summary>
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
            leaving = _running.Count(static slot => slot.IsPreempted); // Told before, and not gone yet.
            slow = [.. _running.Where(static slot => !slot.IsPreempted && slot.Waits.IsWaiting && slot.Waits.Total >= GracePeriod)];
        }

        foreach (HandshakeSlot slot in slow.OrderByDescending(static slot => slot.Waits.Total).Take(Waiting - leaving))
        {
            slot.Preempt();
        }
    }

    /// <summary>The place of one handshake.</summary>
    internal sealed class HandshakeSlot
    {
        private readonly HandshakeSlots _slots;
        private readonly CancellationToken _cancellation;
        private readonly CancellationTokenSource _preempted = new(); // No clock and no parent: it needs no end, and may be cancelled at any time.
        private readonly CancellationTokenSource _linked;

        public HandshakeSlot(HandshakeSlots slots, CancellationToken cancellation)
        {
            _slots = slots;
            _cancellation = cancellation;
            _linked = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _preempted.Token);
            Waits = new PeerWait(slots._time);
        }

        /// <summary>What it waits for its peer.</summary>
        public PeerWait Waits { get; }

        /// <summary>Ends it.</summary>
        public CancellationToken Cancellation => _linked.Token;

        /// <summary>It was ended for others that waited.</summary>
        public bool IsPreempted => _preempted.IsCancellationRequested && !_cancellation.IsCancellationRequested;

        /// <summary>Ends it for one that waits in line.</summary>
        public void Preempt() => _ = _preempted.CancelAsync();

        /// <summary>The place is free.</summary>
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
