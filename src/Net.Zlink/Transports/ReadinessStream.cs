using System.Net.Sockets;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Transports;

/// <summary>A socket's stream whose reads of no bytes end when there is something to read, not before.</summary>
/// <remarks>
/// TLS and WebSocket wait with a read of no bytes, and then read into a buffer of their own: 16 to 32 KB, held until something comes. On Unix the runtime ends such a wait at the system's report, even if that report
/// is about bytes that were read already; of 3,000 idle connections 34 then held their buffer for good. Here a wait looks once more before it ends: see <see cref="InputWait"/>.
/// <para>It begins with a handshake, which goes on on the pool whenever it had to wait: certificates are checked there, and the application's callbacks may take their time. With inline completions it would go on on the
/// polling thread that brought the news, and hold up every other socket of that thread.</para>
/// </remarks>
/// <param name="socket">Connected; owned.</param>
internal sealed class ReadinessStream(Socket socket) : NetworkStream(socket, ownsSocket: true)
{
    private InputWait? _wait;
    private bool _isInHandshake = true;
    private int _pollingThread;

    /// <summary>Hears whenever a read has to wait in here.</summary>
    public StreamUse Reads { get; } = new();

    private InputWait Wait => _wait ??= new InputWait(Socket, Reads);

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        // Windows reports what is there, and may report it late each time.
        bool isWait = buffer.IsEmpty && !OperatingSystem.IsWindows();
        if (isWait && !cancellationToken.CanBeCanceled && !_isInHandshake)
        {
            return Wait.WaitAsync();
        }

        ValueTask<int> read = isWait ? WaitAsync(cancellationToken) : base.ReadAsync(buffer, cancellationToken);
        return read.IsCompleted ? read : RestAsync(read);
    }

    /// <inheritdoc/>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ValueTask write = base.WriteAsync(buffer, cancellationToken);
        return _isInHandshake && !write.IsCompleted ? WriteOnPoolAsync(write) : write;
    }

    /// <inheritdoc cref="InputWait.LeadsTo"/>
    public void LeadsTo(object session, object wire, object events) => Wait.LeadsTo(this, session, wire, events);

    /// <summary>The handshake is over: from here on reads and writes go on where they end. Before the first of them, once.</summary>
    /// <returns>The polling thread of the runtime that brings this socket's news, by its managed id; 0 if the pool does, or nothing had to wait.</returns>
    public int EndHandshake()
    {
        _isInHandshake = false;
        return _pollingThread;
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        base.Dispose(disposing); // Ends what is pending.
        if (disposing)
        {
            _wait?.Dispose();
        }
    }

    // A message that arrives in pieces, for one: rarer than the waits before it.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> RestAsync(ValueTask<int> read)
    {
        Reads.Rest();
        try
        {
            return await read.ConfigureAwait(false);
        }
        finally
        {
            Reads.Resume();
            await LeavePollingThread();
        }
    }

    private async ValueTask WriteOnPoolAsync(ValueTask write)
    {
        try
        {
            await write.ConfigureAwait(false);
        }
        finally
        {
            await LeavePollingThread();
        }
    }

    /// <summary>In a handshake: notes which polling thread this is, where it is one. To be awaited, which then takes the caller to the pool. No async method: one that has yielded may be through before it is awaited, and its caller then stays.</summary>
    private ConfiguredTaskAwaitable LeavePollingThread()
    {
        if (!_isInHandshake || Thread.CurrentThread.IsThreadPoolThread)
        {
            return Task.CompletedTask.ConfigureAwait(false);
        }

        _pollingThread = Environment.CurrentManagedThreadId;
        return Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
    }

    // Only in handshakes and while a connection ends, so it may cost more.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> WaitAsync(CancellationToken cancellation)
    {
        ValueTask<int> wait = base.ReadAsync(Memory<byte>.Empty, cancellation);
        while (!wait.IsCompleted)
        {
            await wait.ConfigureAwait(false);
            wait = base.ReadAsync(Memory<byte>.Empty, cancellation);
        }

        return await wait.ConfigureAwait(false);
    }
}
