using Net.Zlink;
using Net.Zlink.Extensions.Hosting;

namespace ZlinkApp1;

internal static class Frames
{
    public static void AddFrames(this IHostApplicationBuilder builder)
    {
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
        builder.Services.AddZlinkStream(null, static stream => stream.UseHandler<EchoHandler>().AddHealthCheck(), "frames");
    }
}

/// <summary>Sends each frame back to its peer. A frame is 4 bytes of length, high byte first, and the payload.</summary>
internal sealed class EchoHandler(ILogger<EchoHandler> logger) : StreamHandler
{
    public override void OnConnected(StreamPeer peer) => logger.LogInformation("{Peer} has connected", peer);

    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            if (!peer.TrySend(payload.Span))
            {
                peer.Disconnect(abort: true); // Its queue is full: it sends and does not read.
            }
        }

        return ValueTask.CompletedTask;
    }
}
