using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Benchmarks.Zmp;

/// <summary>A socket with a pipe that has no connection, and ZMP frames as a read leaves them.</summary>
internal sealed class ZmpFixture : IDisposable
{
    private readonly ZlinkContext _context = new();

    public ZmpFixture(int messages, int size)
    {
        DealerSocket socket = _context.CreateDealer();
        Core = socket.Core;
        Pipe = new WireLink(Core, socket.Options.Snapshot(ZmpSocketType.Dealer, alias: null))
        {
            Endpoint = "tcp://benchmark",
            IsActive = false
        };
        Messages = messages;
        Size = size;
        Frame = ZmpFrame.HeaderSize + size;
        Slab = Core.Host.Slabs.Rent(messages * Frame);
        for (int i = 0; i < messages; i++)
        {
            ZmpFrame.WriteHeader(Slab.Array.AsSpan(i * Frame), ZmpFlags.None, (uint)size);
        }
    }

    public SocketCore Core { get; }

    public WireLink Pipe { get; }

    public Slab Slab { get; }

    public int Messages { get; }

    public int Size { get; }

    /// <summary>Bytes of one frame.</summary>
    public int Frame { get; }

    public int Length => Messages * Frame;

    /// <summary>A batch as the wire gives it: one lease for all of them.</summary>
    public InboundLease Batch()
    {
        Slab.AddReference();
        InboundLease lease = InboundLease.Rent(Slab, PeerIdentity.Unknown);
        for (int i = 0; i < Messages; i++)
        {
            lease.AddPart((i * Frame) + ZmpFrame.HeaderSize, Size);
            lease.EndMessage();
        }

        return lease;
    }

    /// <summary>Takes and ends everything there is.</summary>
    public int TakeAll()
    {
        int taken = 0;
        while (Core.Receive.TryDequeue(out DequeuedMessage message))
        {
            message.Lease.Release(message.Slot, message.Lease.GenerationOf(message.Slot));
            taken++;
        }

        return taken == Messages ? taken : throw new RequestException($"{taken} of {Messages} messages came.");
    }

    public void Dispose()
    {
        Slab.Release();
        _context.Dispose();
    }
}
