using System.Collections.Concurrent;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Tests.Porting;

/// <summary>The snippets of docs/stream.md, compiled.</summary>
internal static class StreamSnippets
{
    internal static async Task Push()
    {
        await using var context = new ZlinkContext();
        StreamSocket stream = context.CreateStream();
        stream.Bind("tcp://127.0.0.1:5555", new Echo());
        Console.ReadLine();
    }

    internal static void Chat(StreamSocket stream)
    {
        stream.Bind("ws://127.0.0.1:8080/chat", new Room());
    }

    internal static async Task Pull(StreamSocket stream, CancellationToken cancellation)
    {
        stream.Bind("tcp://*:5556");
        await foreach (StreamMessage message in stream.ReceiveAllAsync(cancellation))
        {
            using (message)
            {
                bool isFull = message.Kind == StreamMessageKind.Data
                    && !stream.TrySend(message.PeerId, message.Payload.Span, out ZlinkError error)
                    && error == ZlinkError.Again;       // HostUnreachable: the peer has left, and nothing is to be done
                if (isFull)
                {
                    stream.Disconnect(message.PeerId, abort: true);
                }
            }
        }
    }

    internal static void Secure(ZmpSocket server, ZmpSocket client)
    {
        server.Options.Tls.CertificateFile = "server.pem";      // a renewed file is used for new connections
        server.Options.Tls.KeyFile = "server.key";
        server.Bind("wss://*:8443/feed");

        client.Options.Tls.CaFile = "ca.pem";                   // without it: the authorities of the system
        client.Connect("wss://feed.example:8443/feed");
    }

    private sealed class Room : StreamHandler
    {
        private readonly ConcurrentDictionary<uint, StreamPeer> _peers = new();

        public override void OnConnected(StreamPeer peer) => _peers[peer.Id] = peer;

        public override void OnDisconnected(StreamPeer peer, DisconnectReason reason) => _peers.TryRemove(peer.Id, out _);

        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            foreach (StreamPeer other in _peers.Values)
            {
                other.SendMany(frames, out _);          // a peer that does not read misses them
            }

            return ValueTask.CompletedTask;
        }
    }

    private sealed class Echo : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            foreach (ReadOnlyMemory<byte> payload in frames)
            {
                if (!peer.TrySend(payload.Span))
                {
                    peer.Disconnect(abort: true); // its outbound queue is full: it sends and does not read
                }
            }

            return ValueTask.CompletedTask;
        }
    }
}
