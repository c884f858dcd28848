namespace Net.Zlink.Services;

/// <summary>All requests that have not ended: found by connection and id for a cancel, cancelled by one timer when their time is
/// over.</summary>
internal sealed class OpenRequests : IDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<Key, OpenRequest> _open = [];
    private readonly Stack<OpenRequest> _pool = new();
    private readonly TimeProvider _clock;
    private readonly ITimer _timer;
    private long _armedFor = long.MaxValue;

    public OpenRequests(TimeProvider clock)
    {
        _clock = clock;
        _timer = clock.CreateTimer(static state => ((OpenRequests)state!).OnTimer(), this, Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
    }

    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _open.Count;
            }
        }
    }

    /// <summary>Adds a request.</summary>
    /// <returns>Null: its connection has another of this id.</returns>
    public OpenRequest? TryAdd(GatewayConnection connection, ulong id, long deadline, ServeLoop? loop)
    {
        lock (_gate)
        {
            OpenRequest request = _pool.TryPop(out OpenRequest? pooled) ? pooled : new OpenRequest();
            if (!_open.TryAdd(new Key(connection, id), request))
            {
                _pool.Push(request);
                return null;
            }

            request.Begin(connection, id, deadline, loop);
            if (deadline < _armedFor)
            {
                Arm(deadline);
            }

            return request;
        }
    }

    /// <summary>Ends a request. Later calls for the same generation do nothing.</summary>
    public void Remove(OpenRequest request, int generation)
    {
        lock (_gate)
        {
            // The key is read under the gate: a request of another generation may have it by now.
            if (request.TryEnd(generation))
            {
                _open.Remove(new Key(request.Connection, request.Id));
                _pool.Push(request);
            }
        }
    }

    /// <summary>The gateway does not wait any more.</summary>
    /// <returns>False: there is no such request, or not any more.</returns>
    public bool Cancel(GatewayConnection connection, ulong id)
    {
        OpenRequest? request;
        int generation;
        lock (_gate)
        {
            if (!_open.TryGetValue(new Key(connection, id), out request))
            {
                return false;
            }

            generation = request.Generation;
        }

        return request.Cancel(generation);
    }

    /// <summary>Cancels what a loop has begun or would begin.</summary>
    public void CancelAll(ServeLoop loop) => CancelWhere(request => request.Loop == loop);

    public void Dispose() => _timer.Dispose();

    private void OnTimer()
    {
        long now = _clock.GetTimestamp();
        CancelWhere(request => request.Deadline <= now);
        lock (_gate)
        {
            long next = long.MaxValue;
            foreach (OpenRequest request in _open.Values)
            {
                next = request.Deadline > now && request.Deadline < next ? request.Deadline : next;
            }

            Arm(next);
        }
    }

    private void CancelWhere(Func<OpenRequest, bool> isMeant)
    {
        List<(OpenRequest Request, int Generation)> meant = [];
        lock (_gate)
        {
            foreach (OpenRequest request in _open.Values)
            {
                if (isMeant(request))
                {
                    meant.Add((request, request.Generation));
                }
            }
        }

        foreach ((OpenRequest request, int generation) in meant)
        {
            request.Cancel(generation);
        }
    }

    // Under the gate. As a rule requests have one timeout, so the timer is set once in that time and not for each of them.
    private void Arm(long deadline)
    {
        _armedFor = deadline;
        TimeSpan due = deadline == long.MaxValue ? Timeout.InfiniteTimeSpan : _clock.GetElapsedTime(_clock.GetTimestamp(), deadline);
        _timer.Change(due < TimeSpan.Zero && due != Timeout.InfiniteTimeSpan ? TimeSpan.Zero : due, Timeout.InfiniteTimeSpan);
    }

    private readonly record struct Key(GatewayConnection Connection, ulong Id);
}

/// <summary>A request between its arrival and its end. Pooled: a generation tells whether a holder's request is still this one.</summary>
internal sealed class OpenRequest
{
    private readonly Lock _gate = new();
    private CancellationTokenSource? _source;
    private bool _isCancelled;
    private bool _isAnswered;

    public int Generation { get; private set; }

    public GatewayConnection Connection { get; private set; } = null!;

    public ulong Id { get; private set; }

    /// <summary>A timestamp of the clock; <see cref="long.MaxValue"/>: none.</summary>
    public long Deadline { get; private set; }

    /// <summary>The loop whose handler has it, or will; null: the application received it itself.</summary>
    public ServeLoop? Loop { get; private set; }

    public bool IsCancelled
    {
        get
        {
            lock (_gate)
            {
                return _isCancelled;
            }
        }
    }

    public void Begin(GatewayConnection connection, ulong id, long deadline, ServeLoop? loop)
    {
        Connection = connection;
        Id = id;
        Deadline = deadline;
        Loop = loop;
        _isCancelled = false;
        _isAnswered = false;
    }

    /// <summary>A token that ends with this request. The source is made at the first look and used again by the next request, unless it was
    /// cancelled.</summary>
    public CancellationToken TokenOf(int generation)
    {
        lock (_gate)
        {
            return generation != Generation || _isCancelled ? new CancellationToken(canceled: true)
                : (_source ??= new CancellationTokenSource()).Token;
        }
    }

    /// <summary>Cancels the token, on this thread and outside of all locks of ours.</summary>
    /// <returns>False: that request has ended, or was cancelled before.</returns>
    public bool Cancel(int generation)
    {
        CancellationTokenSource? source;
        lock (_gate)
        {
            if (generation != Generation || _isCancelled)
            {
                return false;
            }

            _isCancelled = true;
            source = _source;
            _source = null;
        }

        source?.Cancel();
        return true;
    }

    /// <summary>Takes the right to answer, which a request has once.</summary>
    public bool TryAnswer(int generation)
    {
        lock (_gate)
        {
            if (generation != Generation || _isAnswered)
            {
                return false;
            }

            return _isAnswered = true;
        }
    }

    /// <summary>The answer was not sent: another may be.</summary>
    public void Unanswer(int generation)
    {
        lock (_gate)
        {
            _isAnswered = generation != Generation && _isAnswered;
        }
    }

    /// <summary>Whether it has its answer; a request that has ended counts as answered.</summary>
    public bool IsAnswered(int generation)
    {
        lock (_gate)
        {
            return generation != Generation || _isAnswered;
        }
    }

    public bool IsOpen(int generation)
    {
        lock (_gate)
        {
            return generation == Generation;
        }
    }

    /// <summary>Ends the request: whoever still holds it holds nothing.</summary>
    /// <returns>False: it has ended before.</returns>
    public bool TryEnd(int generation)
    {
        lock (_gate)
        {
            if (generation != Generation)
            {
                return false;
            }

            Generation++;
            if (_source is not null && !_source.TryReset())
            {
                _source = null;
            }

            return true;
        }
    }
}
