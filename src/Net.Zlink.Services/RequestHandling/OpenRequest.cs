namespace Net.Zlink.Services;

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
