using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>Serves requests with a handler: reads ahead, so that a cancel takes effect before its request begins, and runs a limited number
/// of handlers at once.</summary>
/// <remarks>A handler is called by the thread that has a request for it, the reading one or that of a handler that has just ended, so a
/// handler without waits costs no hop to another thread. With <see cref="ServiceReceiverOptions.RunHandlersOnPool"/> each begins as work
/// of its own.</remarks>
internal sealed class ServeLoop(ReceiverRequests requests, Func<ServiceRequest, CancellationToken, ValueTask> handler, int maxConcurrency,
    ServiceReceiverOptions options, QueueReservation reservation, DurationHistogram duration, MetricNames names)
{
    private const int BatchSize = 64;

    // Requests held beside those in handlers. As many are read ahead for their cancels; what comes behind them waits in the socket, and
    // then at the gateway.
    private const int MaxHeldRequests = 1024;

    private readonly Message[] _batch = new Message[BatchSize];
    private readonly ReadAhead _held = new(MaxHeldRequests, options.ReadAheadByteLimit, reservation);
    private readonly Lock _gate = new();
    private readonly Channel<bool> _capacity = Channel.CreateBounded<bool>(new BoundedChannelOptions(1)
    {
        FullMode = BoundedChannelFullMode.DropWrite,
        SingleReader = true,
    });
    private readonly TaskCompletionSource _idle = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Stack<Handling> _pool = new();
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
                int count = await requests.Socket.ReceiveManyAsync(_batch.AsMemory(0, PlacesInBatch), cancellationToken)
                    .ConfigureAwait(false);
                do
                {
                    Accept(_batch.AsSpan(0, count));
                }
                while (PlacesInBatch is var places and > 0 && (count = requests.Socket.ReceiveMany(_batch.AsSpan(0, places))) > 0);

                bool isFull = PlacesInBatch == 0;
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

    /// <summary>How many messages may be read now; 0: as many are held as may be.</summary>
    private int PlacesInBatch
    {
        get
        {
            lock (_gate)
            {
                return Math.Min(_held.Places, BatchSize);
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
            while (!cancellationToken.IsCancellationRequested && IsMoreThanHalfFull())
            {
                await _capacity.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false);
            }
        }
    }

    private bool IsMoreThanHalfFull()
    {
        lock (_gate)
        {
            return _held.IsMoreThanHalfFull;
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
                bool wasFull = _held.IsMoreThanHalfFull;
                if (_isStopped || _running == maxConcurrency || !_held.TryDequeue(out request))
                {
                    return;
                }

                _running++;
                hasCapacity = wasFull && !_held.IsMoreThanHalfFull;
            }

            if (hasCapacity)
            {
                _capacity.Writer.TryWrite(true);
            }

            if (options.RunHandlersOnPool)
            {
                Rent().Queue(request);
            }
            else
            {
                Start(request);
            }
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

        // The handler may dispose the request, and with it the name of the service.
        Measured measured = duration.IsOn
            ? new Measured(requests.Clock.GetTimestamp(), names.Of(request.ServiceBytes))
            : default;
        ValueTask handling;
        try
        {
            CancellationToken token = request.ExpectsReply ? request.CancellationToken : _stop;
            handling = ServicesTracing.IsOn ? ServicesTracing.ProcessAsync(handler, request, token) : handler(request, token);
            if (handling.IsCompletedSuccessfully)
            {
                handling.GetAwaiter().GetResult();
                Complete(request, measured, failure: null);
                return;
            }
        }
        catch (Exception e)
        {
            Complete(request, measured, e);
            return;
        }

        Rent().Wait(handling, request, measured);
    }

    private Handling Rent()
    {
        lock (_gate)
        {
            return _pool.TryPop(out Handling? kept) ? kept : new Handling(this);
        }
    }

    private void Complete(in ServiceRequest request, in Measured measured, Exception? failure)
    {
        try
        {
            Answer(request, failure);
        }
        catch (Exception)
        {
            // The socket has ended, so the answer is not needed; or the handler disposed the request; or a logger threw. What has no
            // answer gets one below.
        }

        request.Dispose();
        if (!request.ExpectsReply)
        {
            Interlocked.Decrement(ref requests.Counters.PlainInHandlers);
            requests.NoteActivity();
        }

        if (measured.Service is { } service)
        {
            duration.Record(
                requests.Clock.GetElapsedTime(measured.StartedAt), service, failure is null ? null : ErrorTypes.Of(failure));
        }

        Release();
    }

    /// <summary>Says why a handler failed. A request that has no answer even then gets one when it is disposed: its gateway would wait for
    /// its whole time.</summary>
    private void Answer(in ServiceRequest request, Exception? failure)
    {
        switch (failure)
        {
            case null:
                return;
            case OperationCanceledException when request.IsCancelled || _stop.IsCancellationRequested:
                if (!request.IsExpired && _stop.IsCancellationRequested && request.ExpectsReply)
                {
                    request.TryFail(FailureCode.HandlerThrew, "the receiver stopped serving while it handled the request");
                }

                return;
            case ServiceException { Code: >= FailureCode.FirstOfApplications } said:
                request.TryFail(said.Code, said.Message); // It is an answer, and no fault.
                return;
            default:
                request.TryFail(
                    FailureCode.HandlerThrew, failure is ServiceException ? failure.Message : failure.GetType().Name);
                Interlocked.Increment(ref requests.Counters.HandlerFaults);
                ServicesLog.HandlerFailed(
                    requests.Logger, failure, request.ExpectsReply ? request.Service : "messages that expect no reply");
                return;
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
            held = _held.RemoveAll();
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

    /// <summary>A call of a handler whose time is taken.</summary>
    /// <param name="StartedAt">By the timestamp of the clock.</param>
    /// <param name="Service">As metrics name it; null: the time is not taken.</param>
    private readonly record struct Measured(long StartedAt, string? Service);

    /// <summary>A handler that waits, or that is to be called by the thread pool. Pooled, so that neither costs the loop memory.</summary>
    private sealed class Handling : IThreadPoolWorkItem
    {
        private readonly ServeLoop _loop;
        private readonly Action _continue;
        private ConfiguredValueTaskAwaitable.ConfiguredValueTaskAwaiter _awaiter;
        private ServiceRequest _request;
        private Measured _measured;

        public Handling(ServeLoop loop)
        {
            _loop = loop;
            _continue = Continue;
        }

        public void Queue(in ServiceRequest request)
        {
            _request = request;
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false); // In order: threads begin with the last of their own work.
        }

        public void Execute()
        {
            ServiceRequest request = Return();
            _loop.Start(request);
            _loop.StartHandlers();
        }

        public void Wait(ValueTask handling, in ServiceRequest request, in Measured measured)
        {
            _request = request;
            _measured = measured;
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

            Measured measured = _measured;
            ServiceRequest request = Return();
            _loop.Complete(request, measured, failure);
            _loop.StartHandlers();
        }

        private ServiceRequest Return()
        {
            ServiceRequest request = _request;
            _request = default;
            _awaiter = default;
            lock (_loop._gate)
            {
                _loop._pool.Push(this);
            }

            return request;
        }
    }
}
