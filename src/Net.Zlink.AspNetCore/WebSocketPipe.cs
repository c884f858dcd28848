using System.IO.Pipelines;

namespace Net.Zlink.AspNetCore;

/// <summary>What a socket accepts. An idle connection holds no buffer. The end of the writer is the end of the WebSocket.</summary>
internal sealed class WebSocketPipe(WebSocketBytes bytes) : IDuplexPipe
{
    // Each message of a peer is at least one read, so larger buffers help with large messages only.
    private const int ReadSize = 16 * 1024;

    private static readonly StreamPipeReaderOptions s_reading = new(bufferSize: ReadSize, leaveOpen: true, useZeroByteReads: true);

    public PipeReader Input { get; } = PipeReader.Create(bytes, s_reading);

    public PipeWriter Output { get; } = PipeWriter.Create(bytes);
}
