using Net.Zlink;

namespace EchoServer;

/// <summary>
/// The pull way: one task receives what all connections sent, fairly queued, and answers.
/// It must be one: two tasks could take two messages of the same peer and answer them in the wrong order.
/// </summary>
internal sealed class PullEcho(StreamSocket stream, BatchTimer timer)
{
    /// <summary>256 messages spread the cost of a wake-up thin and still leave the first one answered within some 100 us.</summary>
    private readonly StreamMessage[] _batch = new StreamMessage[256];

    private long _cutOff;

    /// <summary>Peers that were disconnected because they did not read their answers.</summary>
    public long CutOff => Volatile.Read(ref _cutOff);

    /// <summary>Runs until the socket is closed.</summary>
    public async Task RunAsync()
    {
        try
        {
            while (true)
            {
                int count = await stream.ReceiveManyAsync(_batch);
                long started = BatchTimer.Start();
                for (int next = 0; next < count;)
                {
                    int first = next++;
                    if (_batch[first].Kind == StreamMessageKind.Data)
                    {
                        // What one peer has sent comes together, and goes back together.
                        while (next < count && IsOfSamePeer(_batch[next], _batch[first]))
                        {
                            next++;
                        }

                        Answer(_batch.AsSpan(first, next - first));
                    }
                }

                timer.Stop(started);
            }
        }
        catch (Exception exception) when (exception is ZlinkException { Error: ZlinkError.ContextTerminated } or ObjectDisposedException)
        {
            // The server is closing.
        }
    }

    private static bool IsOfSamePeer(in StreamMessage message, in StreamMessage other) => message.PeerId == other.PeerId
        && message.Kind == other.Kind;

    /// <summary>
    /// Passes a peer's messages back without copying them. A full queue means that the peer left 64 MiB of answers unread. Waiting for it
    /// would stop this
    /// task and with it every other connection, so such a peer is cut off, without waiting for it to take what is queued.
    /// (Push mode can afford to wait: there only that one connection is paused.)
    /// </summary>
    private void Answer(ReadOnlySpan<StreamMessage> messages)
    {
        uint peerId = messages[0].PeerId;
        int sent = stream.SendMany(peerId, messages);
        if (sent < messages.Length && stream.TryGetPeer(peerId, out StreamPeer? peer))
        {
            peer.Disconnect(abort: true);
            Interlocked.Increment(ref _cutOff);
        }

        foreach (StreamMessage message in messages[sent..])
        {
            message.Dispose(); // What was sent has ended; the rest is a lease on pooled memory to be given back.
        }
    }
}
