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
                for (int i = 0; i < count; i++)
                {
                    using StreamMessage message = _batch[i]; // a lease on pooled memory: disposing it gives the memory back
                    if (message.Kind == StreamMessageKind.Data)
                    {
                        Answer(message);
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

    /// <summary>
    /// A full queue means that the peer left 64 MiB of answers unread. Waiting for it would stop this task and with it every other
    /// connection, so such a peer is cut off, without waiting for it to take what is queued.
    /// (Push mode can afford to wait: there only that one connection is parked.)
    /// </summary>
    private void Answer(in StreamMessage message)
    {
        if (!stream.TrySend(message.PeerId, message.Span, out ZlinkError error)
            && error == ZlinkError.Again
            && stream.TryGetPeer(message.PeerId, out StreamPeer? peer))
        {
            peer.Abort();
            Interlocked.Increment(ref _cutOff);
        }
    }
}
