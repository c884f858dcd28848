using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets;

/// <summary>The connect and disconnect events of a <see cref="PullQueue"/>. Not thread-safe: under the queue's lock.</summary>
/// <remarks>
/// They overtake data, since an application that answers a peer has to know of it, and of its end. But peers that come and go as fast as
/// they can made 28,000 events a second, and one that is there was not heard for as long as these were worked off: so behind some of them
/// it is data's turn. A peer's own connect event is always before its data.
/// </remarks>
internal sealed class PullEvents
{
    // So many overtake data at a time: few enough that 0.3 ms of work for each holds data up by 5 ms, many enough that a rush of 10,000
    // peers is worked off in a thirtieth more time.
    private const int MaxConsecutive = 16;

    // How many peers in the line of those with data are looked at for one whose connect event was read.
    private const int MaxExamined = 64;

    private readonly Queue<(PullPeer Peer, PulledRun Event)> _all = new();
    private int _inRow;

    public int Count => _all.Count;

    public void AddConnected(PullPeer peer) =>
        _all.Enqueue((peer, new PulledRun(PulledKind.Connected, peer.Link, null, 0, 1, DisconnectReason.Unknown)));

    public void AddEnd(PullPeer peer) => _all.Enqueue(
        (peer, new PulledRun(PulledKind.Disconnected, peer.Link, null, 0, 1, peer.Link.EndReason)));

    /// <summary>Takes the next one, unless it is data's turn.</summary>
    /// <param name="currentPeer">Whose messages are being received; null: the next in line is to be served.</param>
    /// <param name="queue">Peers with data. One that may be served comes to its front.</param>
    /// <param name="run">The event.</param>
    public bool TryDequeue(PullPeer? currentPeer, Queue<PullPeer> queue, out PulledRun run)
    {
        if (IsDataNext(currentPeer, queue) || !_all.TryDequeue(out (PullPeer Peer, PulledRun Event) next))
        {
            _inRow = 0;
            run = default;
            return false;
        }

        _inRow++;
        next.Peer.IsShown = true;
        run = next.Event;
        return true;
    }

    /// <summary>Enough events have been taken in a row, and there is data that may be.</summary>
    /// <param name="currentPeer">As above. Its messages may have been dropped.</param>
    /// <param name="queue">As above.</param>
    public bool IsDataNext(PullPeer? currentPeer, Queue<PullPeer> queue) => _inRow >= MaxConsecutive
        && (currentPeer?.First is not null || MoveToFront(queue));

    public void Clear() => _all.Clear();

    private static bool MoveToFront(Queue<PullPeer> queue)
    {
        for (int looked = 0; looked < MaxExamined && queue.TryPeek(out PullPeer? peer); looked++)
        {
            if (peer.First is null)
            {
                peer.IsQueued = false; // Its messages were dropped.
                queue.Dequeue();
            }
            else if (peer.IsShown)
            {
                return true;
            }
            else
            {
                queue.Enqueue(queue.Dequeue());
            }
        }

        return false;
    }
}
