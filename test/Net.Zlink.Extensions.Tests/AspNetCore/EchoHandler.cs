using Net.Zlink.Tests.Support;

namespace Net.Zlink.Extensions.Tests.AspNetCore;

/// <summary>Sends each frame back.</summary>
internal sealed class EchoHandler : StreamHandler
{
    public override async ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> frame in frames)
        {
            await peer.SendAsync(frame, Guard.Token);
        }
    }
}
