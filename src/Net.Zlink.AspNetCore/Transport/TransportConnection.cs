using System.Buffers;
using System.Globalization;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;

namespace Net.Zlink.AspNetCore.Transport;

/// <summary>A pipe as the server expects its connections. The pipe ends with it.</summary>
internal sealed class TransportConnection : DefaultConnectionContext, IDuplexPipe, IMemoryPoolFeature
{
    // Ids appear in logs: those of two processes and of two listeners differ.
    private static long s_lastId = (long)Environment.ProcessId << 32;

    private readonly StreamSocket _socket;
    private readonly StreamPipe _pipe;
    private readonly TaskCompletionSource _disposed = new();

    public TransportConnection(StreamSocket socket, StreamPipe pipe, MemoryPool<byte> pool)
        : base(Interlocked.Increment(ref s_lastId).ToString("X", CultureInfo.InvariantCulture))
    {
        _socket = socket;
        _pipe = pipe;
        MemoryPool = pool;
        Output = new TransportOutput(pipe.Output);
        Transport = this;
        LocalEndPoint = pipe.LocalEndPoint;
        RemoteEndPoint = pipe.RemoteEndPoint;
        ConnectionClosed = pipe.Ended;
        Features.Set<IMemoryPoolFeature>(this);
        Features.Set(pipe);
    }

    public PipeReader Input => _pipe.Input;

    public PipeWriter Output { get; }

    public MemoryPool<byte> MemoryPool { get; }

    /// <summary>Completes with <see cref="DisposeAsync"/>: the pipe's handler has ended then.</summary>
    public Task Disposed => _disposed.Task;

    /// <remarks>
    /// Any thread, also while another one writes. The server passes null when the client has ended its side: that client gets an end, too,
    /// and no reset.
    /// </remarks>
    public override void Abort(ConnectionAbortedException? abortReason)
    {
        if (abortReason is null)
        {
            _socket.Disconnect(_pipe.Id);
        }
        else
        {
            _pipe.Abort(abortReason.Message);
        }
    }

    public override ValueTask DisposeAsync()
    {
        _disposed.TrySetResult();
        return base.DisposeAsync();
    }
}
