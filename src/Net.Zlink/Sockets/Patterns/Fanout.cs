using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>One message for several pipes, of which none holds up the others: one that is full misses it, and that is counted.</summary>
internal static class Fanout
{
    // Up to here a message of one part is copied into each lane of this process, not shared: a reference and its end were 0.15 us for each
    // receiver while each took a lease of its own, packing 2 KiB behind what is there 0.06 to 0.1.
    private const int LargestCopy = 2 * 1024;

    /// <summary>Sends the message to all of <paramref name="links"/>, and lets go of what was handed over with it. One that finds nobody,
    /// be it that the only pipe is just closing, is counted as unmatched.</summary>
    /// <param name="socket">The socket that sends.</param>
    /// <param name="links">Where to.</param>
    /// <param name="message">The message.</param>
    /// <param name="force">All of them were found to have room, or are to be told whatever the limits say.</param>
    public static void Send(SocketCore socket, ReadOnlySpan<PeerLink> links, in OutgoingMessage message, bool force = false)
    {
        bool isFound = false;
        if (links.Length == 1)
        {
            // The queue that accepts it owns what was handed over with it.
            SendStatus status = links[0].TrySend(message, force);
            isFound = Count(socket, links[0], status);
            if (status == SendStatus.Accepted)
            {
                return;
            }
        }
        else if (links.Length > 1)
        {
            isFound = SendToSeveral(socket, links, message, force);
        }

        if (links.Length < 2)
        {
            message.Consume(); // Of a message for several that was seen to.
        }

        if (!isFound)
        {
            Interlocked.Increment(ref socket.Counters.Unmatched);
        }
    }

    /// <summary>Two pipes or more. What is short is copied into each. Of what is long all get the same memory: within the process by
    /// reference, over wires encoded once, or by reference too where the memory was handed over or received.</summary>
    /// <returns>False: all of the pipes are gone.</returns>
    private static bool SendToSeveral(SocketCore socket, ReadOnlySpan<PeerLink> links, in OutgoingMessage message, bool force)
    {
        if (message.IsSingle && message.Payload.Length <= LargestCopy)
        {
            return SendCopies(socket, links, message, force);
        }

        int wires = WiresAmong(links);
        if (message.IsSingle && message.Payload.Length < OutboundChain.LargePayload && links.Length - wires < 2)
        {
            return SendCopies(socket, links, message, force); // Wires copy it in any case.
        }

        long length = message.EncodedLength;
        if (!IsToBeEncoded(message, length, wires))
        {
            return message.IsForwarded ? SendEach(socket, links, message, default, force)
                : SendLease(socket, links, message.MoveToLease(socket.Host.Slabs), default, force);
        }

        bool isFound;
        Slab encoded = message.MoveToSlab(socket.Host.Slabs);
        try
        {
            // Within the process it is the bytes that the wires get, without their headers; of a received message those that came.
            var encoding = new Encoding(encoded, (int)length);
            isFound = message.IsForwarded || wires == links.Length
                ? SendEach(socket, links, message, encoding, force)
                : SendLease(socket, links, PartsOf(encoding), encoding, force);
        }
        finally
        {
            encoded.Release();
        }

        message.Consume();
        return isFound;
    }

    /// <summary>One encoding for all wires is worth it where it is no copy more than has to be made anyway, or where each of several wires
    /// would have to put the same parts together.</summary>
    private static bool IsToBeEncoded(in OutgoingMessage message, long length, int wires)
    {
        if (wires == 0 || length > Array.MaxLength || message.HasLongPartToShare)
        {
            return false;
        }

        return message.IsForwarded ? wires > 1 && message.PartCount > 1 : !message.IsSingle
            || message.Payload.Length >= OutboundChain.LargePayload;
    }

    /// <summary>A short message of one part: each queue and each lane packs it behind its predecessors.</summary>
    private static bool SendCopies(SocketCore socket, ReadOnlySpan<PeerLink> links, in OutgoingMessage message, bool force)
    {
        // Without its owner: no pipe may let go of what the next one copies.
        var copied = new OutgoingMessage(message.Header, message.Payload);
        bool isFound = SendEach(socket, links, copied, default, force);
        message.Consume();
        return isFound;
    }

    /// <summary>The one message of a lease, to each pipe by reference; ends it here.</summary>
    private static bool SendLease(SocketCore socket, ReadOnlySpan<PeerLink> links, InboundLease parts, in Encoding encoding, bool force)
    {
        try
        {
            return SendEach(socket, links, new OutgoingMessage(parts, 0), encoding, force);
        }
        finally
        {
            parts.Release(0, parts.GenerationOf(0));
        }
    }

    /// <param name="socket">The socket that sends.</param>
    /// <param name="links">Where to.</param>
    /// <param name="message">What each pipe gets; the wires only where there is no encoding.</param>
    /// <param name="encoding">What the wires get.</param>
    /// <param name="force">As of <see cref="Send"/>.</param>
    private static bool SendEach(SocketCore socket, ReadOnlySpan<PeerLink> links, in OutgoingMessage message, in Encoding encoding,
        bool force)
    {
        bool isFound = false;
        foreach (PeerLink link in links)
        {
            SendStatus status = encoding.Bytes is { } bytes && link is WireLink wire ? wire.TrySendShared(bytes, encoding.Length, force)
                : link.TrySend(message, force);
            isFound |= Count(socket, link, status);
        }

        return isFound;
    }

    private static int WiresAmong(ReadOnlySpan<PeerLink> links)
    {
        int wires = 0;
        foreach (PeerLink link in links)
        {
            wires += link is WireLink ? 1 : 0;
        }

        return wires;
    }

    /// <summary>A lease of an encoded message's parts, where they lie.</summary>
    private static InboundLease PartsOf(in Encoding encoding)
    {
        InboundLease lease = InboundLease.Rent(slab: null, source: null);
        for (int position = 0; position < encoding.Length;)
        {
            int part = ZmpFrame.ReadLength(encoding.Bytes!.Array.AsSpan(position));
            position += ZmpFrame.HeaderSize;
            encoding.Bytes.AddReference();
            lease.AddPart(encoding.Bytes, position, part);
            position += part;
        }

        lease.EndMessage();
        return lease;
    }

    /// <summary>Counts what a full pipe missed. False: the pipe is gone.</summary>
    private static bool Count(SocketCore socket, PeerLink link, SendStatus status)
    {
        if (status == SendStatus.Full)
        {
            socket.Events.DroppedAtMark(link);
        }

        return status != SendStatus.Closed;
    }

    /// <summary>A message as the wires get it; by default there is none.</summary>
    private readonly record struct Encoding(Slab? Bytes, int Length);
}
