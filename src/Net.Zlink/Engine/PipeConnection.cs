using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>A connection as two byte pipes, for those who bring a protocol of their own: no framing, no shard.</summary>
/// <remarks>
/// Two loops of plain awaits move bytes between socket and pipes. A pipe per connection costs about half the throughput of the framed path, so it is a
/// seam for users, not what the library itself runs on. Reading waits with a zero-byte receive and takes a buffer only when there is something, so an
/// idle connection holds none. Ends like a framed connection: write what was flushed, end our side, wait for the peer's end, dispose.
/// </remarks>
internal sealed class PipeConnection : IDuplexPipe
{
    // What one receive may take: one page of the pool's, several times; larger reads gained nothing through a pipe.
    private const int ReadSize = 16 * 1024;

    private readonly Socket _socket;
    private readonly Pipe _received;
    private readonly Pipe _toSend;
    private readonly TimeProvider _time;
    private readonly TimeSpan _closeTimeout;
    private readonly CancellationTokenSource _aborted = new();
    private volatile bool _ending;
    private long _receivedBytes;
    private long _sentBytes;

    public PipeConnection(Socket socket, BufferPool pool, TimeProvider time, TimeSpan closeTimeout)
    {
        _socket = socket;
        _time = time;
        _closeTimeout = closeTimeout;

        // The user's continuations run on the thread pool; ours run wherever the socket or the user's flush completes.
        _received = new Pipe(new PipeOptions(pool, PipeScheduler.ThreadPool, PipeScheduler.Inline, useSynchronizationContext: false));
        _toSend = new Pipe(new PipeOptions(pool, PipeScheduler.Inline, PipeScheduler.ThreadPool, useSynchronizationContext: false));
    }

    public PipeReader Input => _received.Reader;

    public PipeWriter Output => _toSend.Writer;

    public EndPoint? RemoteEndPoint { get; init; }

    public EndPoint? LocalEndPoint { get; init; }

    public long ReceivedBytes => Volatile.Read(ref _receivedBytes);

    public long SentBytes => Volatile.Read(ref _sentBytes);

    /// <summary>Cancelled when the connection is ended from this side without waiting.</summary>
    public CancellationToken Aborted => _aborted.Token;

    /// <summary>Moves bytes until both directions are over, then closes the socket. The task never fails.</summary>
    public async Task RunAsync()
    {
        Task receiving = ReceiveAsync();
        bool flushed = await SendAsync().ConfigureAwait(false);
        if (flushed)
        {
            await EndOurSideAsync(receiving).ConfigureAwait(false);
        }

        Abort();
        _socket.Dispose();
        await receiving.ConfigureAwait(false);
    }

    /// <summary>Ends the connection: in order, by completing what is sent (what was flushed is still written), or at once.</summary>
    public void RequestClose(CloseMode mode)
    {
        if (mode == CloseMode.Abort)
        {
            Abort();
        }

        _ending = true;
        _toSend.Reader.CancelPendingRead();
    }

    private async Task EndOurSideAsync(Task receiving)
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Send);
            await receiving.WaitAsync(_closeTimeout, _time, _aborted.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or TimeoutException or OperationCanceledException)
        {
            // Gone already, or the peer does not end its side in time: close anyway.
        }
    }

    private async Task ReceiveAsync()
    {
        Exception? failure = null;
        PipeWriter writer = _received.Writer;
        try
        {
            while (true)
            {
                await _socket.ReceiveAsync(Memory<byte>.Empty, SocketFlags.None, _aborted.Token).ConfigureAwait(false);
                if (!HasInput())
                {
                    continue;
                }

                int received = await _socket.ReceiveAsync(writer.GetMemory(ReadSize), SocketFlags.None, _aborted.Token).ConfigureAwait(false);
                if (received == 0)
                {
                    break;
                }

                Interlocked.Add(ref _receivedBytes, received);
                writer.Advance(received);
                FlushResult result = await writer.FlushAsync(_aborted.Token).ConfigureAwait(false);
                if (result.IsCompleted)
                {
                    await DiscardAsync().ConfigureAwait(false);
                    break;
                }
            }
        }
        catch (Exception e)
        {
            // Also whatever exception the user completed a pipe with: it comes back here, and ends the connection at once.
            failure = e is SocketException ? new IOException("The connection was lost.", e) : e;
        }

        await writer.CompleteAsync(failure).ConfigureAwait(false);
    }

    /// <summary>
    /// Looks before a buffer is taken. A zero-byte receive may end for a report of the system that is older than our last read; a receive would then wait,
    /// and hold its buffer, for as long as the peer is silent.
    /// </summary>
    private bool HasInput()
    {
        Span<byte> one = stackalloc byte[1];
        _socket.Receive(one, SocketFlags.Peek, out SocketError error);
        return error switch
        {
            SocketError.Success => true, // Input, or the peer's end.
            SocketError.WouldBlock => false,
            _ => throw new SocketException((int)error), // Reported once only: the receive would not see it again.
        };
    }

    /// <summary>The user reads no more: what still comes is thrown away, because unread input would turn our close into a reset.</summary>
    private async Task DiscardAsync()
    {
        byte[] scratch = new byte[4096];
        while (await _socket.ReceiveAsync(scratch, SocketFlags.None, _aborted.Token).ConfigureAwait(false) > 0)
        {
            // Nothing to do with it.
        }
    }

    /// <summary>Writes what the user flushes. True if all of it was written and the user (or a close) ended it in order.</summary>
    private async Task<bool> SendAsync()
    {
        Exception? failure = null;
        PipeReader reader = _toSend.Reader;
        bool inOrder = false;
        try
        {
            while (true)
            {
                ReadResult result = await reader.ReadAsync(_aborted.Token).ConfigureAwait(false);
                bool isEmpty = result.Buffer.IsEmpty; // Asked now: the buffer is not ours any more after AdvanceTo.
                foreach (ReadOnlyMemory<byte> segment in result.Buffer)
                {
                    ReadOnlyMemory<byte> rest = segment;
                    while (!rest.IsEmpty)
                    {
                        int sent = await _socket.SendAsync(rest, SocketFlags.None, _aborted.Token).ConfigureAwait(false);
                        Interlocked.Add(ref _sentBytes, sent);
                        rest = rest[sent..];
                    }
                }

                reader.AdvanceTo(result.Buffer.End);
                if (result.IsCompleted || (_ending && isEmpty))
                {
                    inOrder = true;
                    break;
                }

                if (_ending)
                {
                    reader.CancelPendingRead(); // The wish to close was used up by this read; the next one must not wait either.
                }
            }
        }
        catch (Exception e)
        {
            // Also whatever exception the user completed a pipe with: it comes back here, and ends the connection at once.
            failure = e is SocketException ? new IOException("The connection was lost.", e) : e;
        }

        await reader.CompleteAsync(failure).ConfigureAwait(false);
        return inOrder;
    }

    private void Abort()
    {
        if (!_aborted.IsCancellationRequested)
        {
            _aborted.Cancel();
        }
    }
}
