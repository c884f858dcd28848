namespace Net.Zlink.Tests.Child;

/// <summary>Answers every frame with itself.</summary>
/// <param name="arrivals">Released once for each peer that has come.</param>
internal sealed class EchoHandler(SemaphoreSlim? arrivals = null) : StreamHandler
{
    public override void OnConnected(StreamPeer peer) => arrivals?.Release();

    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            peer.TrySend(payload.Span);
        }

        return ValueTask.CompletedTask;
    }
}
