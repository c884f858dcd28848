using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>Serves requests with a handler: reads ahead, so that a cancel takes effect before its request begins, and runs a limited number
/// of handlers at once.</summary>
/// <remarks>A handler is called by the thread that has a request for it, the reading one or that of a handler that has just ended, so a
/// handler without waits costs no hop to another thread.</remarks>
internal sealed class ServeLoop(ReceiverRequests requests, Func<ServiceRequest, CancellationToken, ValueTask> handler, int maxConcurrency,
    Histogram<double> duration)
{
    private const int BatchSize = 64;

    // Requests held beside those in handlers. As many are read ahead for their cancels; what comes behind them waits in the socket, and
    // then at the gateway.
    private const int MaxHeldRequests = 1024;

    private readonly Message[] _batch = new Message[BatchSize];
    private readonly Queue<ServiceRequest> _held = new();
    private readonly Lock _gate = new();
    private readonly Channel<bool> _capacity = Channel.CreateBounded<bool>(new BoundedChannelOptions(1)
    {
        FullMode = BoundedChannelFullMode.DropWrite,
        SingleReader = true,
    });
    private readonly TaskCompletionSource _idle = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Stack<Waiting> _pool = new();
    private CancellationToken _stop;
    private int _running;
    private bool _isStopped;

    /// <summary>Serves until the token is cancelled, or the socket or its context has ended. Returns when the last handler has.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        _stop = cancellationToken;
        try
        {
            while (true)
            {
                int count = await requests.Socket.ReceiveManyAsync(_batch, cancellationToken).ConfigureAwait(false);
                do
                {
                    Accept(_batch.AsSpan(0, count));
                }
                while (HeldCount < MaxHeldRequests && (count = requests.Socket.ReceiveMany(_batch)) > 0);

                bool isFull = HeldCount >= MaxHeldRequests;
                StartHandlers();
                if (isFull)
                {
                    await WaitForCapacityAsync(cancellationToken).ConfigureAwait(false);
                }
            }
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException { Error: ZlinkError.ContextTerminated }
            || (e is OperationCanceledException && cancellationToken.IsCancellationRequested))
        {
        }
        finally
        {
            await StopAsync().ConfigureAwait(false);
        }

        cancellationToken.ThrowIfCancellationRequested();
    }

    private int HeldCount
    {
        get
        {
            lock (_gate)
            {
                return _held.Count;
            }
        }
    }

    private void Accept(ReadOnlySpan<Message> messages)
    {
        foreach (Message message in messages)
        {
            if (!requests.TryAccept(message, this, out ServiceRequest request))
            {
                continue;
            }

            if (request.IsProbe)
            {
                request.Dispose();
                continue;
            }

            lock (_gate)
            {
                _held.Enqueue(request);
            }
        }
    }

    private async ValueTask WaitForCapacityAsync(CancellationToken cancellationToken)
    {
        // The read itself takes no token: one that cannot be cancelled allocates nothing.
        using (cancellationToken.UnsafeRegister(static writer => ((ChannelWriter<bool>)writer!).TryWrite(true), _capacity.Writer))
        {
            while (!cancellationToken.IsCancellationRequested && HeldCount > MaxHeldRequests / 2)
            {
                await _capacity.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false);
            }
        }
    }

    /// <summary>Starts handlers in the order of arrival while there are requests and places for them.</summary>
    private void StartHandlers()
    {
        while (true)
        {
            ServiceRequest request;
            bool hasCapacity;
            lock (_gate)
            {
                if (_isStopped || _running == maxConcurrency || !_held.TryDequeue(out request))
                {
                    return;
                }

                _running++;
                hasCapacity = _held.Count == MaxHeldRequests / 2;
            }

            if (hasCapacity)
            {
                _capacity.Writer.TryWrite(true);
            }

            Start(request);
        }
    }

    /// <summary>Calls the handler, unless the request is not to be executed any more. The caller goes on with the next one, whether this
    /// one has ended or waits.</summary>
    private void Start(in ServiceRequest request)
    {
        if (request.IsCancelled || request.IsExpired)
        {
            if (request.IsExpired)
            {
                requests.Refuse(request, RefusalCode.Expired);
            }

            request.Dispose();
            Release();
            return;
        }

        if (!request.ExpectsReply)
        {
            Interlocked.Increment(ref requests.Counters.PlainInHandlers);
        }

        long startedAt = duration.Enabled ? requests.Clock.GetTimestamp() : 0;
        ValueTask handling;
        try
        {
            CancellationToken token = request.ExpectsReply ? request.Cancelled : _stop;
            handling = ServicesTracing.IsOn ? ServicesTracing.ProcessAsync(handler, request, token) : handler(request, token);
            if (handling.IsCompletedSuccessfully)
            {
                handling.GetAwaiter().GetResult();
                Complete(request, startedAt, failure: null);
                return;
            }
        }
        catch (Exception e)
        {
            Complete(request, startedAt, e);
            return;
        }

        Waiting? waiting;
        lock (_gate)
        {
            _pool.TryPop(out waiting);
        }

        (waiting ?? new Waiting(this)).Begin(handling, request, startedAt);
    }

    private void Complete(in ServiceRequest request, long startedAt, Exception? failure)
    {
        try
        {
            Answer(request, failure);
        }
        catch (Exception e) when (e is ObjectDisposedException or ZlinkException)
        {
            // The socket has ended, so nobody waits for the answer; or the handler disposed the request.
        }

        request.Dispose();
        if (!request.ExpectsReply)
        {
            Interlocked.Decrement(ref requests.Counters.PlainInHandlers);
            requests.NoteActivity();
        }

        if (startedAt != 0)
        {
            duration.Record(requests.Clock.GetElapsedTime(startedAt).TotalSeconds);
        }

        Release();
    }

    /// <summary>A request is never left without an answer: its gateway would wait for its whole time.</summary>
    private void Answer(in ServiceRequest request, Exception? failure)
    {
        if (failure is OperationCanceledException && (request.IsCancelled || _stop.IsCancellationRequested))
        {
            if (!request.IsExpired && _stop.IsCancellationRequested && request.ExpectsReply)
            {
                request.TryFail(FailureCode.HandlerThrew, "the receiver stopped serving while it handled the request");
            }

            return;
        }

        if (failure is not null)
        {
            Interlocked.Increment(ref requests.Counters.HandlerFaults);
            ServicesLog.HandlerFailed(requests.Logger, failure);
            if (request.ExpectsReply)
            {
                request.TryFail(FailureCode.HandlerThrew, failure.GetType().Name);
            }
        }
        else if (request.ExpectsReply && !request.IsAnswered)
        {
            request.TryFail(FailureCode.NoReply, "the handler sent no reply");
        }
    }

    private void Release()
    {
        bool isIdle;
        lock (_gate)
        {
            _running--;
            isIdle = _isStopped && _running == 0;
        }

        if (isIdle)
        {
            _idle.TrySetResult();
        }
    }

    /// <summary>Refuses what has not begun, cancels what has, and waits for its end.</summary>
    private async ValueTask StopAsync()
    {
        ServiceRequest[] held;
        bool isIdle;
        lock (_gate)
        {
            _isStopped = true;
            held = [.. _held];
            _held.Clear();
            isIdle = _running == 0;
        }

        foreach (ServiceRequest request in held)
        {
            requests.Refuse(request, RefusalCode.Stopped);
            request.Dispose();
        }

        requests.Open.CancelAll(this);
        if (!isIdle)
        {
            await _idle.Task.ConfigureAwait(false);
        }
    }

    /// <summary>A handler that waits. Pooled, so that waiting costs the loop no memory.</summary>
    private sealed class Waiting
    {
        private readonly ServeLoop _loop;
        private readonly Action _continue;
        private ConfiguredValueTaskAwaitable.ConfiguredValueTaskAwaiter _awaiter;
        private ServiceRequest _request;
        private long _startedAt;

        public Waiting(ServeLoop loop)
        {
            _loop = loop;
            _continue = Continue;
        }

        public void Begin(ValueTask handling, in ServiceRequest request, long startedAt)
        {
            _request = request;
            _startedAt = startedAt;
            _awaiter = handling.ConfigureAwait(false).GetAwaiter();
            _awaiter.UnsafeOnCompleted(_continue);
        }

        private void Continue()
        {
            Exception? failure = null;
            try
            {
                _awaiter.GetResult();
            }
            catch (Exception e)
            {
                failure = e;
            }

            ServiceRequest request = _request;
            long startedAt = _startedAt;
            _request = default;
            _awaiter = default;
            lock (_loop._gate)
            {
                _loop._pool.Push(this);
            }

            _loop.Complete(request, startedAt, failure);
            _loop.StartHandlers();
        }
    }
}
