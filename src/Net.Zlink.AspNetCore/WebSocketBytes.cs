using System.Net.WebSockets;
using System.Runtime.CompilerServices;

namespace Net.Zlink.AspNetCore;

/// <summary>
/// The payloads of a WebSocket's messages as one stream of bytes. The base library's WebSocketStream waits for the peer's CLOSE when it is
/// disposed, by a read beside the socket's own.
/// </summary>
internal class WebSocketBytes(WebSocket webSocket, WebSocketEnd end) : Stream
{
    private volatile bool _hasEnded;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (await ReceiveAsync(buffer, cancellationToken).ConfigureAwait(false) is { } part)
        {
            // A message without payload has no bytes, and is no end.
            if (part.Count > 0 || (buffer.IsEmpty && !part.EndOfMessage))
            {
                return part.Count;
            }
        }

        return 0;
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
        SendAsync(buffer, endsMessage: true, cancellationToken);

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override void Flush()
    {
        // Nothing is held back.
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    /// <summary>
    /// Ends this side behind what was written. <see cref="Stream.Dispose()"/> does not: the pipe calls it when a connection is cut, and
    /// the code that accepted the WebSocket sends the CLOSE then.
    /// </summary>
    public override async ValueTask DisposeAsync()
    {
        await end.CloseAsync().ConfigureAwait(false);
        await base.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>Null: the peer has ended its side. As on a bound ws endpoint an end without CLOSE is an end, too.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected async ValueTask<ValueWebSocketReceiveResult?> ReceiveAsync(Memory<byte> into, CancellationToken cancellation)
    {
        if (_hasEnded)
        {
            return null;
        }

        try
        {
            ValueWebSocketReceiveResult result = await webSocket.ReceiveAsync(into, cancellation).ConfigureAwait(false);
            if (result.MessageType != WebSocketMessageType.Close)
            {
                return result;
            }
        }
        catch (WebSocketException e) when (e.WebSocketErrorCode == WebSocketError.ConnectionClosedPrematurely)
        {
            // Below.
        }

        _hasEnded = true;
        return null;
    }

    /// <summary>A peer that has said CLOSE takes no data any more (RFC 6455, 5.5.1).</summary>
    protected ValueTask SendAsync(ReadOnlyMemory<byte> bytes, bool endsMessage, CancellationToken cancellation) => _hasEnded
        ? ValueTask.FromException(new IOException("The peer has closed the WebSocket."))
        : webSocket.SendAsync(bytes, WebSocketMessageType.Binary, endsMessage, cancellation);
}
