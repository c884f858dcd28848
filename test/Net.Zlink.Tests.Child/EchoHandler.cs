namespace Net.Zlink.Tests.Child;

/// <summary>Answers every frame with itself.</summary>
internal sealed class EchoHandler : StreamHandler
{
    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            peer.TrySend(payload.Span);
        }

        return ValueTask.CompletedTask;
    }
}
