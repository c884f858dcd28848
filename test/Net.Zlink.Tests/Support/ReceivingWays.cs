namespace Net.Zlink.Tests.Support;

/// <summary>All ways to receive on one socket, by turns: Try, blocking, async, and in batches. Not thread-safe: each thread has its
/// own.</summary>
internal sealed class ReceivingWays(ReceivingSocket socket)
{
    private readonly Message[] _batch = new Message[7];
    private int _turn;

    /// <summary>Takes what the next way brings, which may be nothing, and ends each message when it was looked at. The calling thread
    /// waits.</summary>
    /// <exception cref="ObjectDisposedException">The socket was disposed.</exception>
    public int Receive(Action<Message> look)
    {
        switch (_turn++ % 5)
        {
            case 0:
                return socket.TryReceive(out Message tried) ? Look(tried, look) : 0;
            case 1:
                return Look(socket.Receive(Guard.Limit), look);
            case 2:
                return Look(Join(socket.ReceiveAsync(Guard.Token)), look);
            case 3:
                return Look(socket.ReceiveMany(_batch), look);
            default:
                return Look(Join(socket.ReceiveManyAsync(_batch, Guard.Token)), look);
        }
    }

    private static int Look(in Message message, Action<Message> look)
    {
        using (message)
        {
            look(message);
        }

        return 1;
    }

    private static T Join<T>(ValueTask<T> task) => task.IsCompleted ? task.GetAwaiter().GetResult()
        : task.Guarded().GetAwaiter().GetResult();

    private int Look(int count, Action<Message> look)
    {
        for (int i = 0; i < count; i++)
        {
            Look(_batch[i], look);
        }

        return count;
    }
}
