namespace Net.Zlink.Services;

/// <summary>All requests that have not ended: found by connection and id for a cancel, cancelled by one timer when their time is
/// over.</summary>
internal sealed class OpenRequests : IDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<Key, OpenRequest> _open = [];
    private readonly Stack<OpenRequest> _pool = new();
    private readonly TimeProvider _clock;
    private readonly DeadlineTimer _timer;

    public OpenRequests(TimeProvider clock)
    {
        _clock = clock;
        _timer = new DeadlineTimer(clock, OnDue);
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
            _timer.Add(deadline);
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
    public bool Abandon(GatewayConnection connection, ulong id)
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

        return request.Cancel(generation, isAbandoned: true);
    }

    /// <summary>Cancels what a loop has begun or would begin.</summary>
    public void CancelAll(ServeLoop loop) => CancelWhere(request => request.Loop == loop);

    public void Dispose() => _timer.Dispose();

    private void OnDue()
    {
        long now = _clock.GetTimestamp();
        CancelWhere(request => request.Deadline <= now);
        lock (_gate)
        {
            _timer.Set(_open.Values.Select(static request => request.Deadline).Where(deadline => deadline > now)
                .DefaultIfEmpty(long.MaxValue).Min());
        }
    }

    private void CancelWhere(Func<OpenRequest, bool> isMeant)
    {
        (OpenRequest Request, int Generation)[] meant;
        lock (_gate)
        {
            meant = [.. _open.Values.Where(isMeant).Select(static request => (request, request.Generation))];
        }

        foreach ((OpenRequest request, int generation) in meant)
        {
            request.Cancel(generation);
        }
    }

    private readonly record struct Key(GatewayConnection Connection, ulong Id);
}

/// <summary>A request between its arrival and its end. Pooled: a generation tells whether a holder's request is still this one.</summary>
internal sealed class OpenRequest
{
    private readonly Lock _gate = new();
    private CancellationTokenSource? _source;
    private volatile bool _isCancelled;
    private volatile bool _isAbandoned;
    private bool _isAnswered;

    public int Generation { get; private set; }

    public GatewayConnection Connection { get; private set; } = null!;

    public ulong Id { get; private set; }

    /// <summary>A timestamp of the clock; <see cref="long.MaxValue"/>: none.</summary>
    public long Deadline { get; private set; }

    /// <summary>The loop whose handler has it, or will; null: the application received it itself.</summary>
    public ServeLoop? Loop { get; private set; }

    public bool IsCancelled => _isCancelled;

    /// <summary>Its gateway has said that it does not wait any more.</summary>
    public bool IsAbandoned => _isAbandoned;

    public void Begin(GatewayConnection connection, ulong id, long deadline, ServeLoop? loop)
    {
        Connection = connection;
        Id = id;
        Deadline = deadline;
        Loop = loop;
        _isCancelled = false;
        _isAbandoned = false;
        _isAnswered = false;
    }

    /// <summary>A token that ends with this request. The source is created at the first access and reused by the next request, unless it
    /// was cancelled.</summary>
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
    public bool Cancel(int generation, bool isAbandoned = false)
    {
        CancellationTokenSource? source;
        lock (_gate)
        {
            _isAbandoned |= isAbandoned && generation == Generation;
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
    /// <returns>Null: the request has ended.</returns>
    public bool? TryAnswer(int generation)
    {
        lock (_gate)
        {
            bool isFirst = !_isAnswered;
            _isAnswered |= generation == Generation;
            return generation == Generation ? isFirst : null;
        }
    }

    /// <summary>The answer was not sent, so another answer is allowed.</summary>
    public void UndoAnswer(int generation)
    {
        lock (_gate)
        {
            _isAnswered = generation != Generation && _isAnswered;
        }
    }

    /// <summary>Ends the request: code that still holds it holds nothing.</summary>
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
