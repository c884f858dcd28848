using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>A full link misses the message, which is counted, and delays no other.</summary>
internal static class Fanout
{
    // Up to here a message of one part is copied into each inproc lane. A reference with a lease of its own took 0.15 us a receiver,
    // packing 2 KiB 0.06 to 0.1 us.
    private const int LargestCopy = 2 * 1024;

    /// <summary>
    /// A message that no link takes is counted as unmatched. NoMemory: none has it; where only some have it, the others miss it.
    /// </summary>
    public static SendStatus Send(SocketCore socket, ReadOnlySpan<PeerLink> links, in OutgoingMessage message, bool force = false)
    {
        bool isFound;
        if (links.Length > 1)
        {
            try
            {
                isFound = SendToSeveral(socket, links, message, force);
            }
            catch (OutOfMemoryException)
            {
                return SendStatus.NoMemory; // Of what all of them share.
            }
        }
        else
        {
            SendStatus status = links.IsEmpty ? SendStatus.Closed : links[0].TrySend(message, force);
            if (status is SendStatus.Accepted or SendStatus.NoMemory)
            {
                return status;
            }

            isFound = !links.IsEmpty && Count(socket, links[0], status);
            message.Consume();
        }

        if (!isFound)
        {
            Interlocked.Increment(ref socket.Counters.Unmatched);
        }

        return SendStatus.Accepted;
    }

    /// <summary>
    /// A short message is copied for each. A long one is shared: inproc by reference, over wires encoded once, or by reference if its
    /// memory was transferred or received.
    /// </summary>
    private static bool SendToSeveral(SocketCore socket, ReadOnlySpan<PeerLink> links, in OutgoingMessage message, bool force)
    {
        if (message.IsSingle && message.Payload.Length <= LargestCopy)
        {
            return SendCopies(socket, links, message, force);
        }

        int wires = WiresAmong(links);
        if (message.IsShort && links.Length - wires < 2)
        {
            return SendCopies(socket, links, message, force);
        }

        long length = message.EncodedLength(ZmpFrame.Format);
        if (!IsToBeEncoded(message, length, wires))
        {
            return message.Kind == MessageKind.Forwarded ? SendEach(socket, links, message, default, force)
                : SendLease(socket, links, message.MoveToLease(socket.Host.Slabs), default, force);
        }

        bool isFound;
        Slab encoded = message.MoveToSlab(socket.Host.Slabs, ZmpFrame.Format);
        try
        {
            var encoding = new Encoding(encoded, (int)length);
            isFound = message.Kind == MessageKind.Forwarded || wires == links.Length
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

    /// <summary>Encoding once pays if a copy is needed anyway, or if several wires would each assemble the same parts.</summary>
    private static bool IsToBeEncoded(in OutgoingMessage message, long length, int wires)
    {
        if (wires == 0 || length > Array.MaxLength || message.HasLongPartToShare)
        {
            return false;
        }

        return message.Kind == MessageKind.Forwarded ? wires > 1 && message.PartCount > 1 : !message.IsShort;
    }

    private static bool SendCopies(SocketCore socket, ReadOnlySpan<PeerLink> links, in OutgoingMessage message, bool force)
    {
        var copied = new OutgoingMessage(message.Payload);
        bool isFound = SendEach(socket, links, copied, default, force);
        message.Consume();
        return isFound;
    }

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

    private static bool SendEach(SocketCore socket, ReadOnlySpan<PeerLink> links, in OutgoingMessage message, in Encoding encoding,
        bool force)
    {
        bool isFound = false;
        foreach (PeerLink link in links)
        {
            SendStatus status = encoding.Bytes is { } bytes ? link.TrySendShared(bytes, encoding.Length, message, force)
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
            wires += link.IsInproc ? 0 : 1;
        }

        return wires;
    }

    private static InboundLease PartsOf(in Encoding encoding)
    {
        InboundLease lease = InboundLease.RentForOne(slab: null, source: null);
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

    private static bool Count(SocketCore socket, PeerLink link, SendStatus status)
    {
        if (status == SendStatus.Full)
        {
            socket.Losses.DroppedAtMark(link);
        }
        else if (status == SendStatus.NoMemory)
        {
            socket.Losses.DroppedForMemory(link);
        }

        return status != SendStatus.Closed;
    }

    private readonly record struct Encoding(Slab? Bytes, int Length);
}
