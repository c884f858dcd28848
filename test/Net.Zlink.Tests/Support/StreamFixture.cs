using Microsoft.Extensions.Logging;

namespace Net.Zlink.Tests.Support;

/// <summary>One test's context, for STREAM sockets.</summary>
internal sealed class StreamFixture(int shards = 2, TimeProvider? time = null, TimeSpan? shutdownTimeout = null, int? furtherShards = null,
    ILoggerFactory? log = null, long? queuedByteLimit = null, long? unfinishedByteLimit = null)
    : ContextFixture(shards, time, shutdownTimeout, furtherShards, log, queuedByteLimit, unfinishedByteLimit)
{
    /// <summary>A bound socket whose messages are pulled.</summary>
    public StreamSocket Bind(out string endpoint, StreamOptions? options = null)
    {
        StreamSocket socket = Context.CreateStream(options ?? new StreamOptions());
        endpoint = socket.Bind("tcp://127.0.0.1:0");
        return socket;
    }

    /// <summary>A bound socket with a handler.</summary>
    public StreamSocket Bind(StreamHandler handler, out string endpoint, StreamOptions? options = null)
    {
        StreamSocket socket = Context.CreateStream(options ?? new StreamOptions());
        endpoint = socket.Bind("tcp://127.0.0.1:0", handler);
        return socket;
    }

    /// <summary>A raw pipe that was connected to a peer. Both end with the fixture.</summary>
    public async Task<(StreamPipe Pipe, RawPeer Peer)> ConnectPipeAsync(StreamOptions? options = null)
    {
        RawListener listener = Listen();
        StreamSocket client = Context.CreateStream(options);
        StreamPipe pipe = await client.ConnectPipeAsync(listener.Endpoint, Guard.Token).Guarded();
        return (pipe, Own(await listener.AcceptAsync()));
    }

    /// <summary>A peer of the socket that is a pipe for as long as the task says; returns its id.</summary>
    public async Task<uint> ConnectPipeAsync(StreamSocket socket, Task hold)
    {
        var started = new TaskCompletionSource<uint>();
        string endpoint = socket.BindPipe("tcp://127.0.0.1:*", async pipe =>
        {
            started.SetResult(pipe.Id);
            await hold;
        });
        await ConnectAsync(endpoint);
        return await started.Task.Guarded();
    }
}
