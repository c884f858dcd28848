using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>One message for several pipes, of which none holds up the others: one that is full misses it, and that is counted.</summary>
internal static class Fanout
{
    /// <summary>Sends the message to all of <paramref name="pipes"/>, and lets go of what was handed over with it. One that finds nobody, be it that the only pipe is just closing, is counted as unmatched.</summary>
    /// <param name="socket">The socket that sends.</param>
    /// <param name="pipes">Where to.</param>
    /// <param name="message">The message.</param>
    /// <param name="force">All of them were found to have room, or are to be told whatever the limits say.</param>
    public static void Send(SocketCore socket, ReadOnlySpan<Pipe> pipes, in OutgoingMessage message, bool force = false)
    {
        bool isFound = false;
        if (pipes.Length == 1)
        {
            // The queue that accepts it owns what was handed over with it.
            SendStatus status = pipes[0].TrySend(message, force);
            isFound = Count(socket, pipes[0], status);
            if (status == SendStatus.Accepted)
            {
                return;
            }
        }
        else if (pipes.Length > 1)
        {
            long length = message.EncodedLength;
            isFound = length <= Array.MaxLength ? SendEncoded(socket, pipes, message, (int)length, force) : SendByReference(socket, pipes, message, force);
        }

        if (!isFound)
        {
            Interlocked.Increment(ref socket.Books.Unmatched);
        }

        message.Consume();
    }

    /// <summary>As <see cref="Send"/>, without some of the message's parts, of which at least one is left. They go by reference.</summary>
    /// <param name="leftOut">The parts that are not sent, in rising order.</param>
    /// <param name="socket">The socket that sends.</param>
    /// <param name="pipes">Where to.</param>
    /// <param name="message">The message.</param>
    /// <param name="force">As of <see cref="Send"/>.</param>
    public static void SendWithout(List<int> leftOut, SocketCore socket, ReadOnlySpan<Pipe> pipes, in OutgoingMessage message, bool force)
    {
        InboundLease whole = message.MoveToLease(socket.Host.Slabs);
        InboundLease rest = InboundLease.Rent(slab: null, source: null);
        for (int i = 0; i < whole.Count; i++)
        {
            if (leftOut.BinarySearch(i) < 0)
            {
                (Slab slab, int offset, int length) = whole.PlaceOf(i);
                slab.AddReference();
                rest.AddPart(slab, offset, length);
            }
        }

        rest.EndMessage();
        whole.Release(0, whole.GenerationOf(0));
        message.Consume();
        Send(socket, pipes, new OutgoingMessage(rest, 0), force);
        rest.Release(0, rest.GenerationOf(0));
    }

    /// <summary>Encoded once; each peer's queue copies it while it is short, and shares it when it is long. False: all of the pipes are gone.</summary>
    private static bool SendEncoded(SocketCore socket, ReadOnlySpan<Pipe> pipes, in OutgoingMessage message, int length, bool force)
    {
        bool isFound = false;
        Slab encoded = socket.Host.Slabs.Rent(length);
        try
        {
            message.WriteTo(encoded.Array); // Throws where handed-over memory was disposed too early.
            foreach (Pipe pipe in pipes)
            {
                isFound |= Count(socket, pipe, pipe.TrySendShared(encoded, length, force));
            }
        }
        finally
        {
            encoded.Release();
        }

        return isFound;
    }

    /// <summary>As <see cref="SendEncoded"/>, for a message that no array holds, and that so has several parts: each goes by reference.</summary>
    private static bool SendByReference(SocketCore socket, ReadOnlySpan<Pipe> pipes, in OutgoingMessage message, bool force)
    {
        bool isFound = false;
        InboundLease parts = message.MoveToLease(socket.Host.Slabs);
        foreach (Pipe pipe in pipes)
        {
            isFound |= Count(socket, pipe, pipe.TrySend(new OutgoingMessage(parts, 0), force));
        }

        parts.Release(0, parts.GenerationOf(0));
        return isFound;
    }

    /// <summary>Counts what a full pipe missed. False: the pipe is gone.</summary>
    private static bool Count(SocketCore socket, Pipe pipe, SendStatus status)
    {
        if (status == SendStatus.Full)
        {
            socket.Events.DroppedAtMark(pipe);
        }

        return status != SendStatus.Closed;
    }
}
