using Net.Zlink.Flow;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>The handshakes that run. While others wait in line, those whose peers take their time give way, the slowest first, one for each that waits.</summary>
/// <param name="time">The clock.</param>
internal sealed class HandshakePlaces(TimeProvider time)
{
    /// <summary>
    /// How long a handshake may have waited for its peer, its waits together, before it gives way. A peer answers within a round trip; nine thousand TLS clients of one program that all connected at once, to a server on the same two processors, let it wait for 1.2 s at most.
    /// So these are peers that never will, and with 1,024 places 200 of them make room each second.
    /// </summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    // A twentieth of the patience: short beside the wait in line that it ends, and a look takes microseconds.
    private static readonly TimeSpan Look = Patience / 20;

    private readonly TimeProvider _time = time;
    private readonly Lock _gate = new();
    private readonly HashSet<Place> _running = [];
    private ITimer? _looks;
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
                return _running.Count(static place => place.Waits.IsWaiting);
            }
        }
    }

    /// <summary>Someone waits in line, until <see cref="EndWait"/>.</summary>
    public void BeginWait()
    {
        lock (_gate)
        {
            _waiting++;
            _looks ??= DefaultContext.Run(() => _time.CreateTimer(static places => ((HandshakePlaces)places!).MakeRoom(), this, Look, Look));
        }
    }

    /// <summary>One that waited has a place, or does not want it any more.</summary>
    public void EndWait()
    {
        lock (_gate)
        {
            if (--_waiting == 0)
            {
                _looks?.Dispose();
                _looks = null;
            }
        }
    }

    /// <summary>A handshake begins, until <see cref="Place.Leave"/>.</summary>
    public Place Enter(CancellationToken cancellation)
    {
        var place = new Place(this, cancellation);
        lock (_gate)
        {
            _running.Add(place);
        }

        return place;
    }

    private void MakeRoom()
    {
        List<Place> slow;
        int leaving;
        lock (_gate)
        {
            leaving = _running.Count(static place => place.HasGivenWay); // Told before, and not gone yet.
            slow = [.. _running.Where(static place => !place.HasGivenWay && place.Waits.IsWaiting && place.Waits.Total >= Patience)];
        }

        foreach (Place place in slow.OrderByDescending(static place => place.Waits.Total).Take(Waiting - leaving))
        {
            place.GiveWay();
        }
    }

    /// <summary>The place of one handshake.</summary>
    internal sealed class Place
    {
        private readonly HandshakePlaces _places;
        private readonly CancellationToken _cancellation;
        private readonly CancellationTokenSource _givesWay = new(); // No clock and no parent: it needs no end, and may be cancelled at any time.
        private readonly CancellationTokenSource _either;

        public Place(HandshakePlaces places, CancellationToken cancellation)
        {
            _places = places;
            _cancellation = cancellation;
            _either = CancellationTokenSource.CreateLinkedTokenSource(cancellation, _givesWay.Token);
            Waits = new PeerWait(places._time);
        }

        /// <summary>What it waits for its peer.</summary>
        public PeerWait Waits { get; }

        /// <summary>Ends it.</summary>
        public CancellationToken Cancellation => _either.Token;

        /// <summary>It was ended for others that waited.</summary>
        public bool HasGivenWay => _givesWay.IsCancellationRequested && !_cancellation.IsCancellationRequested;

        /// <summary>Ends it for one that waits in line.</summary>
        public void GiveWay() => _ = _givesWay.CancelAsync();

        /// <summary>The place is free.</summary>
        public void Leave()
        {
            lock (_places._gate)
            {
                _places._running.Remove(this);
            }

            _either.Dispose();
        }
    }
}
