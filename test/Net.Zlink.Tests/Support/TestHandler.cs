using System.Threading.Channels;
using Net.Zlink.Monitoring;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>A handler made of delegates, which notes what it was called for.</summary>
internal sealed class TestHandler : StreamHandler
{
    private readonly Channel<StreamPeer> _connected = Channel.CreateUnbounded<StreamPeer>();
    private readonly Channel<(StreamPeer Peer, DisconnectReason Reason)> _disconnected =
        Channel.CreateUnbounded<(StreamPeer, DisconnectReason)>();

    public Action<StreamPeer>? Connected { get; init; }

    public Func<StreamPeer, StreamFrames, ValueTask>? Received { get; init; }

    public Action<StreamPeer, DisconnectReason>? Disconnected { get; init; }

    /// <summary>Whether peers that come and go are noted; a test of 10,000 of them would only measure the notes.</summary>
    public bool TakesNotes { get; init; } = true;

    /// <summary>Answers every frame with itself.</summary>
    public static TestHandler Echo() => new() { Received = EchoAsync };

    public static ValueTask EchoAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            Assert.True(peer.TrySend(payload.Span));
        }

        return ValueTask.CompletedTask;
    }

    /// <summary>The payloads, copied.</summary>
    public static byte[][] Copy(StreamFrames frames)
    {
        var payloads = new byte[frames.Count][];
        int count = 0;
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            payloads[count++] = payload.ToArray();
        }

        Assert.Equal(frames.Count, count);
        return payloads;
    }

    public Task<StreamPeer> NextConnectedAsync() => _connected.Reader.ReadAsync(Guard.Token).Guarded();

    public Task<(StreamPeer Peer, DisconnectReason Reason)> NextDisconnectedAsync() =>
        _disconnected.Reader.ReadAsync(Guard.Token).Guarded();

    public override void OnConnected(StreamPeer peer)
    {
        if (TakesNotes)
        {
            _connected.Writer.TryWrite(peer);
        }

        Connected?.Invoke(peer);
    }

    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames) => Received?.Invoke(peer, frames)
        ?? ValueTask.CompletedTask;

    public override void OnDisconnected(StreamPeer peer, DisconnectReason reason)
    {
        if (TakesNotes)
        {
            _disconnected.Writer.TryWrite((peer, reason));
        }

        Disconnected?.Invoke(peer, reason);
    }
}
