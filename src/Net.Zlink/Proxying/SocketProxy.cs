using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>
/// Passes whole messages between two sockets in both directions, without a copy of long ones: the core of a broker, a forwarder or a bridge
/// between transports.
/// </summary>
/// <remarks>
/// <para>
/// Any types go together: ROUTER with DEALER (many clients to many workers), XSUB with XPUB (messages one way, subscriptions the other),
/// PAIR, PUB and SUB. A ROUTER's routing id becomes the first part towards other types, and is taken from there on the way back. Front and
/// back may be the same socket.
/// </para>
/// <para>
/// A message is received only when the other side has capacity, so a slow side slows the senders of the other. At most 1,000 messages go
/// one way in a turn. One run at a time; all other members are thread-safe, and others may use the sockets.
/// </para>
/// <para>
/// With Conflate, a socket accepts messages of one part only. Longer ones are dropped and counted as
/// <see cref="ProxyStatistics.Undeliverable"/>; a capture socket misses the copy.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// var proxy = new SocketProxy(frontRouter, backDealer);
/// await proxy.RunAsync(stoppingToken);
/// </code>
/// </example>
public sealed class SocketProxy : IReadinessWatcher
{
    private const int StateIdle = 0;
    private const int Running = 1;
    private const int Dropping = 2;
    private const int Ending = 3; // Running and asked to end, in one word, so that Stop either ends a run or finds none.

    private readonly ReadinessWait _wait = new();
    private readonly ProxyPort[] _ports;
    private readonly ProxyFlow _forth;
    private readonly ProxyFlow? _back;
    private int _state;
    private bool _isPaused;

    /// <summary>Creates a proxy that is not running.</summary>
    /// <param name="front">The socket of clients or publishers. The proxy does not own it.</param>
    /// <param name="back">The socket of workers or subscribers, or the same one.</param>
    /// <param name="capture">
    /// Gets a copy of every message first, with a ROUTER's routing id as its first part. While it is full nothing is passed. Null: none.
    /// </param>
    /// <exception cref="ArgumentNullException"><paramref name="front"/> or <paramref name="back"/> is null.</exception>
    /// <exception cref="ArgumentException">
    /// <paramref name="capture"/> cannot send. Or front or back is a ROUTER, which adds a part, and the other or the capture socket sends
    /// with Conflate.
    /// </exception>
    public SocketProxy(ZmpSocket front, ZmpSocket back, ZmpSocket? capture = null)
    {
        ArgumentNullException.ThrowIfNull(front);
        ArgumentNullException.ThrowIfNull(back);
        var frontPort = new ProxyPort(front);
        ProxyPort backPort = ReferenceEquals(front, back) ? frontPort : new ProxyPort(back);
        ProxyPort? capturePort = capture is null ? null : new ProxyPort(capture);
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
        _ports = [.. new[] { frontPort, backPort, capturePort }.OfType<ProxyPort>().Distinct()];
    }

    /// <summary>It passes no messages until <see cref="Resume"/>.</summary>
    public bool IsPaused => Volatile.Read(ref _isPaused);

    /// <summary>A run is in progress.</summary>
    public bool IsRunning => Volatile.Read(ref _state) is Running or Ending;

    /// <summary>
    /// Passes messages until it is ended. A received message that found no capacity stays in the proxy for its next run, or until a socket
    /// ends.
    /// </summary>
    /// <param name="cancellationToken">Ends the run.</param>
    /// <returns>A task that completes when <see cref="Stop"/> ends the run. The work runs on the thread pool.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated: the context of one of the sockets was shut down.</exception>
    /// <exception cref="ObjectDisposedException">One of the sockets was disposed.</exception>
    /// <exception cref="InvalidOperationException">It is running.</exception>
    public Task RunAsync(CancellationToken cancellationToken = default)
    {
        Start();
        return LoopAsync(blocking: false, cancellationToken);
    }

    /// <summary>As <see cref="RunAsync"/>, on the calling thread, which blocks until the run ends.</summary>
    /// <exception cref="ZlinkException">ContextTerminated: the context of one of the sockets was shut down.</exception>
    /// <exception cref="ObjectDisposedException">One of the sockets was disposed.</exception>
    /// <exception cref="InvalidOperationException">It is running, or this was called on a shard.</exception>
    public void Run()
    {
        BlockingWait.ThrowIfOnShard(nameof(RunAsync));
        Start();
#pragma warning disable RS0030 // The task is complete: this loop blocks where the other one awaits.
        LoopAsync(blocking: true, CancellationToken.None).GetAwaiter().GetResult();
#pragma warning restore RS0030
    }

    /// <summary>
    /// Stops passing messages, which then wait in the sockets up to their high-water marks. A message in progress may still be passed.
    /// </summary>
    public void Pause() => Volatile.Write(ref _isPaused, value: true);

    /// <summary>Passes messages again.</summary>
    public void Resume()
    {
        Volatile.Write(ref _isPaused, value: false);
        _wait.OnMayBeReady();
    }

    /// <summary>Ends the present run soon. Without one it does nothing.</summary>
    public void Stop()
    {
        Interlocked.CompareExchange(ref _state, Ending, Running);
        _wait.OnMayBeReady();
    }

    /// <summary>Returns the statistics of all runs.</summary>
    /// <returns>A snapshot.</returns>
    public ProxyStatistics GetStatistics() => new()
    {
        FrontReceived = _forth.Received.Traffic,
        BackSent = _forth.Sent.Traffic,
        BackReceived = _back?.Received.Traffic ?? default,
        FrontSent = _back?.Sent.Traffic ?? default,
        Undeliverable = _forth.Undeliverable + (_back?.Undeliverable ?? 0),
    };

    /// <summary>A socket has ended while a message waits for the next run.</summary>
    void IReadinessWatcher.OnMayBeReady() => DropIfEnded();

    private static void ThrowIfTakesOnePart(ProxyPort? port, string socket)
    {
        if (port is { AllowsOnlyOnePart: true })
        {
            throw new ArgumentException(
                "A ROUTER's messages have the peer's routing id as one more part, but a socket with Conflate accepts only messages of one "
                + "part. Create this socket without Conflate.", socket);
        }
    }

    private async Task LoopAsync(bool blocking, CancellationToken cancellation)
    {
        try
        {
            if (!blocking)
            {
                // Not on the caller's thread, which may be a user interface's.
                await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            }

            while (true)
            {
                cancellation.ThrowIfCancellationRequested();
                int begun = _wait.Begin();
                Array.ForEach(_ports, static port => port.ThrowIfEnded());
                if (Volatile.Read(ref _state) == Ending)
                {
                    return;
                }

                int moved = IsPaused ? 0 : Math.Max(_forth.Advance(), _back?.Advance() ?? 0);
                if (moved == 0)
                {
                    CallerFlush.Run();
                    if (blocking)
                    {
                        _wait.Block(begun, Timeout.InfiniteTimeSpan);
                    }
                    else
                    {
                        await _wait.WaitAsync(begun, cancellation).ConfigureAwait(false);
                    }
                }
                else if (moved == ProxyFlow.Burst && !blocking)
                {
                    // Lets other work use the pool thread in between.
                    await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
                }
            }
        }
        finally
        {
            EndRun();
        }
    }

    private void Start()
    {
        int state = Interlocked.CompareExchange(ref _state, Running, StateIdle);
        if (state is Running or Ending)
        {
            throw new InvalidOperationException("The proxy is already running.");
        }

        if (state == Dropping)
        {
            Array.ForEach(_ports, static port => port.ThrowIfEnded());
        }

        foreach (ProxyPort port in _ports)
        {
            port.Unwatch(this);
            port.Watch(_wait);
        }
    }

    private void EndRun()
    {
        Array.ForEach(_ports, port => port.Unwatch(_wait));
        bool holds = _forth.HasPending || _back is { HasPending: true };
        if (holds)
        {
            Array.ForEach(_ports, port => port.Watch(this));
        }

        Interlocked.Exchange(ref _state, StateIdle);
        if (holds)
        {
            DropIfEnded();
        }
    }

    private void DropIfEnded()
    {
        if (!Array.Exists(_ports, static port => port.IsEnded) || Interlocked.CompareExchange(ref _state, Dropping, StateIdle) != StateIdle)
        {
            return;
        }

        Array.ForEach(_ports, port => port.Unwatch(this));
        _forth.Drop();
        _back?.Drop();
        Volatile.Write(ref _state, StateIdle);
    }
}
