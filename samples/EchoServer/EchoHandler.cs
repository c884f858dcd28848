using Net.Zlink;

namespace EchoServer;

/// <summary>
/// The push way: the library calls this on the connection's own shard with the frames of one read, and the answers are queued in place.
/// One instance serves every connection, on several threads at once, so it keeps no state of its own.
/// </summary>
internal sealed class EchoHandler(BatchTimer timer) : StreamHandler
{
    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        long started = BatchTimer.Start();
        int sent = peer.SendMany(frames);
        if (sent < frames.Count)
        {
            return SendRestAsync(peer, frames, sent);
        }

        timer.Stop(started);
        return ValueTask.CompletedTask;
    }

    /// <summary>
    /// The peer sends faster than it reads and its queue is full. Waiting here pauses this connection alone: it is not read again until
    /// there is room, TCP pushes back, and the shard goes on with everyone else. The frames stay valid until this method completes.
    /// </summary>
    private static async ValueTask SendRestAsync(StreamPeer peer, StreamFrames frames, int alreadySent)
    {
        try
        {
            int index = 0;
            foreach (ReadOnlyMemory<byte> frame in frames)
            {
                if (index++ >= alreadySent)
                {
                    await peer.SendAsync(frame);
                }
            }
        }
        catch (ZlinkException)
        {
            // The peer left, or the server is closing, while we waited: nobody is there to answer.
        }
    }
}
