using Microsoft.Extensions.Logging;

namespace Net.Zlink.Tests.Support;

/// <summary>One test's context, for STREAM sockets.</summary>
internal sealed class StreamFixture(int shards = 2, TimeProvider? time = null, TimeSpan? shutdownTimeout = null, int? furtherShards = null, ILoggerFactory? log = null)
    : ContextFixture(shards, time, shutdownTimeout, furtherShards, log)
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
}
