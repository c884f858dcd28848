using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Porting;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Passes whole messages between two sockets, both ways, without copying long ones: the heart of a broker, a forwarder or a bridge
/// between transports.</summary>
/// <remarks>
/// <para>
/// Any types go together as natively: ROUTER with DEALER (requests of many clients to many workers), XSUB with XPUB (messages one way,
/// subscriptions the other), PAIR, PUB and SUB. A ROUTER's routing id travels as the first part of a message towards other types, and is
/// taken from it on the way back. Front and back may be the same socket: it gets back what it receives.
/// </para>
/// <para>
/// A message is taken in only when the other side has room, so a slow side pushes back on the senders of the other; at most 1,000 messages
/// go one way before it is the other way's turn. While there is nothing to do the proxy waits, and costs nothing. One run at a time; all
/// other members are safe for any number of threads, and the sockets stay usable by others.
/// </para>
/// <para>
/// A socket with Conflate takes messages of one part only. One of several parts that is to go there is dropped and counted as
/// <see cref="ProxyStatistics.Undeliverable"/>, and the proxy goes on. A capture socket with Conflate misses the copy, which is counted
/// too, while the message itself is passed on.
/// </para>
/// </remarks>
public sealed class Proxy
{
    private const int StateIdle = 0;
    private const int Running = 1;
    private const int Dropping = 2;
    private const int Ending = 3; // Running, and asked to end: one word, so that a Terminate either finds a run, and ends it, or none.

    private readonly ReadinessWait _wait = new();
    private readonly ProxyPort[] _ports;
    private readonly ProxyFlow _forth;
    private readonly ProxyFlow? _back;
    private readonly ProxyControl? _control;
    private readonly EndWatch _ends;
    private int _state;
    private bool _isPaused;

    /// <summary>A proxy, not running yet.</summary>
    /// <param name="front">The socket that clients or publishers use; the proxy does not own it.</param>
    /// <param name="back">The socket that workers or subscribers use, or the same one.</param>
    /// <param name="capture">Gets a copy of every message, of both directions, before it goes on; a ROUTER's routing id comes in front.
    /// While it has no room nothing moves. Null for none.</param>
    /// <exception cref="ArgumentNullException"><paramref name="front"/> or <paramref name="back"/> is null.</exception>
    /// <exception cref="ArgumentException">
    /// <paramref name="capture"/> cannot send. Or one of front and back is a ROUTER, whose messages have its peer's routing id as one more
    /// part, and the other or the capture socket sends with Conflate, which takes messages of one part.
    /// </exception>
    public Proxy(ZmpSocket front, ZmpSocket back, ZmpSocket? capture = null)
        : this(front, back, capture, control: null)
    {
    }

    /// <summary>A proxy that a control socket commands, too: see <see cref="NativeProxy"/>.</summary>
    internal Proxy(ZmpSocket front, ZmpSocket back, ZmpSocket? capture, ZmpSocket? control)
    {
        ArgumentNullException.ThrowIfNull(front);
        ArgumentNullException.ThrowIfNull(back);
        if (control is not null && (ReferenceEquals(control, front) || ReferenceEquals(control, back) || ReferenceEquals(control, capture)))
        {
            throw new ArgumentException("The control socket is one of its own: a message on another socket is not a command.",
                nameof(control));
        }

        var frontPort = new ProxyPort(front);
        ProxyPort backPort = ReferenceEquals(front, back) ? frontPort : new ProxyPort(back);
        ProxyPort? capturePort = capture is null ? null : new ProxyPort(capture);
        ProxyPort? controlPort = control is null ? null : new ProxyPort(control);
        if (capturePort is { HasSender: false })
        {
            throw new ArgumentException("The capture socket is of a type that cannot send.", nameof(capture));
        }

        if (frontPort.IsRouter || backPort.IsRouter)
        {
            ThrowIfTakesOnePart(frontPort, nameof(front));
            ThrowIfTakesOnePart(backPort, nameof(back));
            ThrowIfTakesOnePart(capturePort, nameof(capture));
        }

        _forth = new ProxyFlow(frontPort, backPort, capturePort);
        _back = ReferenceEquals(front, back) ? null : new ProxyFlow(backPort, frontPort, capturePort);
        _control = controlPort is null ? null : new ProxyControl(this, controlPort);
        _ends = new EndWatch(this);
        _ports = [.. new[] { frontPort, backPort, capturePort, controlPort }.OfType<ProxyPort>().Distinct()];
    }

    /// <summary>What one turn brought.</summary>
    private enum Turn
    {
        Nothing,
        Something,
        FullBurst,
        TheEnd,
    }

    /// <summary>It passes nothing on until <see cref="Resume"/>.</summary>
    public bool IsPaused => Volatile.Read(ref _isPaused);

    /// <summary>A run is under way.</summary>
    public bool IsRunning => Volatile.Read(ref _state) is Running or Ending;

    /// <summary>Passes messages on until it is ended. A message that was taken in and found no room then stays in the proxy, for its next
    /// run, or until one of its sockets ends.</summary>
    /// <param name="cancellationToken">Ends the run.</param>
    /// <returns>Completes when <see cref="Terminate"/> ends the run. The work is done on the thread pool.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated: the context of one of the sockets was shut down.</exception>
    /// <exception cref="ObjectDisposedException">One of the sockets was disposed.</exception>
    /// <exception cref="InvalidOperationException">It runs already.</exception>
    public Task RunAsync(CancellationToken cancellationToken = default)
    {
        Start();
        return LoopAsync(cancellationToken);
    }

    /// <summary>As <see cref="RunAsync"/>, on the calling thread, which is blocked until the run ends.</summary>
    /// <exception cref="ZlinkException">ContextTerminated: the context of one of the sockets was shut down.</exception>
    /// <exception cref="ObjectDisposedException">One of the sockets was disposed.</exception>
    /// <exception cref="InvalidOperationException">It runs already, or this was called on a shard.</exception>
    public void Run()
    {
        BlockingWait.ThrowIfOnShard(nameof(RunAsync));
        Start();
        try
        {
            while (true)
            {
                Turn turn = Advance();
                if (turn == Turn.Nothing)
                {
                    Waiter<bool> waiter = BeginWait(blocking: true, out turn);
                    if (turn == Turn.Nothing)
                    {
                        _wait.Block(waiter, Timeout.InfiniteTimeSpan);
                    }
                }

                if (turn == Turn.TheEnd)
                {
                    return;
                }
            }
        }
        finally
        {
            Stop();
        }
    }

    /// <summary>Lets messages wait in the sockets from here on, up to their high-water marks. One that is just being passed on may still
    /// go.</summary>
    public void Pause() => Volatile.Write(ref _isPaused, value: true);

    /// <summary>Passes messages on again.</summary>
    public void Resume()
    {
        Volatile.Write(ref _isPaused, value: false);
        Wake();
    }

    /// <summary>Ends the run that is under way, soon. Without one nothing happens.</summary>
    public void Terminate()
    {
        Interlocked.CompareExchange(ref _state, Ending, Running);
        Wake();
    }

    /// <summary>What it has done so far, in all runs.</summary>
    /// <returns>A snapshot.</returns>
    public ProxyStatistics GetStatistics() => new()
    {
        FrontReceived = _forth.Received.Traffic,
        BackSent = _forth.Sent.Traffic,
        BackReceived = _back?.Received.Traffic ?? default,
        FrontSent = _back?.Sent.Traffic ?? default,
        Undeliverable = _forth.Undeliverable + (_back?.Undeliverable ?? 0) + (_control?.Undeliverable ?? 0),
    };

    private static void ThrowIfTakesOnePart(ProxyPort? port, string socket)
    {
        if (port is { AllowsOnlyOnePart: true })
        {
            throw new ArgumentException(
                "A ROUTER's messages have its peer's routing id as one more part, and a socket with Conflate takes messages of one part: "
                + "none could be passed on. Make this socket without Conflate.", socket);
        }
    }

    private async Task LoopAsync(CancellationToken cancellation)
    {
        try
        {
            // Not on the caller's thread, which may be a user interface's.
            await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            while (true)
            {
                cancellation.ThrowIfCancellationRequested();
                Turn turn = Advance();
                if (turn == Turn.Nothing)
                {
                    Waiter<bool> waiter = BeginWait(blocking: false, out turn);
                    if (turn == Turn.Nothing)
                    {
                        await ReadinessWait.WaitAsync(waiter, cancellation).ConfigureAwait(false);
                    }
                }

                if (turn == Turn.TheEnd)
                {
                    return;
                }

                if (turn == Turn.FullBurst)
                {
                    // The pool's thread is not this proxy's alone: others get it in between.
                    await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
                }
            }
        }
        finally
        {
            Stop();
        }
    }

    /// <summary>Begins to wait, and looks once more: what comes from then on wakes it.</summary>
    /// <param name="blocking">The calling thread is going to block.</param>
    /// <param name="turn">What the look brought; the wait is over if it was something.</param>
    private Waiter<bool> BeginWait(bool blocking, out Turn turn)
    {
        CallerFlush.Run();
        Waiter<bool> waiter = _wait.Begin(blocking);
        turn = Turn.TheEnd;
        try
        {
            turn = Advance();
        }
        finally
        {
            if (turn != Turn.Nothing)
            {
                _wait.Leave(waiter, blocking);
            }
        }

        return waiter;
    }

    private Turn Advance()
    {
        foreach (ProxyPort port in _ports)
        {
            port.ThrowIfEnded();
        }

        bool commanded = _control?.Advance() ?? false;
        if (Volatile.Read(ref _state) == Ending)
        {
            return Turn.TheEnd;
        }

        int forth = 0;
        int back = 0;
        if (!IsPaused)
        {
            forth = _forth.Advance();
            back = _back?.Advance() ?? 0;
        }

        return Math.Max(forth, back) == ProxyFlow.Burst ? Turn.FullBurst : commanded || forth + back > 0 ? Turn.Something : Turn.Nothing;
    }

    private void Start()
    {
        int state = Interlocked.CompareExchange(ref _state, Running, StateIdle);
        if (state is Running or Ending)
        {
            throw new InvalidOperationException("The proxy runs already.");
        }

        if (state == Dropping)
        {
            Array.ForEach(_ports, static port => port.ThrowIfEnded()); // One of them does: that is why.
        }

        foreach (ProxyPort port in _ports)
        {
            port.Unwatch(_ends);
            port.Watch(_wait);
        }
    }

    private void Stop()
    {
        foreach (ProxyPort port in _ports)
        {
            port.Unwatch(_wait);
            port.ReleaseBuffers();
        }

        bool holds = _forth.HasPending || _back is { HasPending: true } || _control is { HasPendingReply: true };
        if (holds)
        {
            foreach (ProxyPort port in _ports)
            {
                port.Watch(_ends);
            }
        }

        Interlocked.Exchange(ref _state, StateIdle); // And from here on another thread may find that a socket has ended.
        if (holds)
        {
            DropIfEnded();
        }
    }

    /// <summary>Between runs: what is held has nowhere to go any more once a socket has ended, and its memory goes back.</summary>
    private void DropIfEnded()
    {
        if (!Array.Exists(_ports, static port => port.IsEnded) || Interlocked.CompareExchange(ref _state, Dropping, StateIdle) != StateIdle)
        {
            return;
        }

        foreach (ProxyPort port in _ports)
        {
            port.Unwatch(_ends);
        }

        _forth.Drop();
        _back?.Drop();
        _control?.Drop();
        Volatile.Write(ref _state, StateIdle);
    }

    private void Wake() => _wait.OnMayBeReady();

    /// <summary>Hears of the sockets while the proxy rests with something in it.</summary>
    private sealed class EndWatch(Proxy proxy) : IReadinessWatcher
    {
        public void OnMayBeReady() => proxy.DropIfEnded();
    }
}
