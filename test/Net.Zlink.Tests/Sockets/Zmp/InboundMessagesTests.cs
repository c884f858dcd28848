using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Engine;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets.Zmp;

public sealed class InboundMessagesTests
{
    private const int PartSize = 1;
    private const int OverBudget = 33 * 1024 * 1024;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(7)]
    [InlineData(100)]
    [InlineData(InboundLease.MaxSlots)]
    public void Multipart_messages_allocate_nothing_once_messages_of_as_many_parts_have_come(int parts)
    {
        const int Messages = 300;
        using BufferPool pool = TestPools.Create();
        using var host = new EngineHost(1, pool, TimeProvider.System, NullLogger.Instance, new RecordingObserver());
        var core = new RecordingCore(host, InboundRole.All);
        var slabs = new ReceiveSlab(host.Slabs);
        WireLink link = NewLink(core);
        var messages = new InboundMessages(core, link, maxParts: 1_000);
        int frames = Messages * parts;
        int total = frames * (ZmpFrame.HeaderSize + PartSize);
        Slab slab = slabs.RentOwn(total);
        bool isWhole = true;
        long allocated = Allocations.Of(
            () =>
            {
                messages.Begin(new InboundBytes(slab, 0, total, OwnsSlab: true), slabs);
                for (int frame = 0; frame < frames; frame++)
                {
                    messages.AddPart((frame * (ZmpFrame.HeaderSize + PartSize)) + ZmpFrame.HeaderSize, PartSize,
                        more: (frame + 1) % parts > 0);
                }

                messages.End(total);
                for (int i = 0; i < Messages; i++)
                {
                    // An assertion allocates.
                    isWhole &= core.Receive.TryDequeue(out DequeuedMessage dequeued) && dequeued.Lease.PartsOf(dequeued.Slot) == parts;
                    dequeued.Lease.Release(dequeued.Slot, dequeued.Lease.GenerationOf(dequeued.Slot));
                }
            },
            rounds: 20);
        Assert.True(isWhole);
        Assert.Equal(0, allocated);
        slab.Release();
        link.Queue.Abandon();
        Assert.Equal(0, pool.GetStatistics().Live);
    }

    [Fact]
    public void Over_the_memory_budget_the_parts_of_an_unfinished_message_share_one_copy_of_each_read()
    {
        const int Reads = 3;
        const int PartsOfRead = 100;
        using BufferPool pool = TestPools.Create();
        using var host = new EngineHost(1, pool, TimeProvider.System, NullLogger.Instance, new RecordingObserver());
        var core = new RecordingCore(host, InboundRole.All);
        var slabs = new ReceiveSlab(host.Slabs);
        WireLink link = NewLink(core);
        var messages = new InboundMessages(core, link, maxParts: Reads * PartsOfRead);
        host.Slabs.Account(OverBudget);
        for (int read = 0; read < Reads; read++)
        {
            Slab slab = slabs.Acquire(0, out int offset, out _);
            Span<byte> bytes = slab.Array.AsSpan(offset, PartsOfRead * PartSize);
            for (int part = 0; part < PartsOfRead; part++)
            {
                bytes[part] = (byte)part;
            }

            messages.Begin(new InboundBytes(slab, offset, bytes.Length, OwnsSlab: false), slabs);
            for (int part = 0; part < PartsOfRead; part++)
            {
                messages.AddPart(offset + part, PartSize, more: read < Reads - 1 || part < PartsOfRead - 1);
            }

            messages.End(offset + bytes.Length);
            bytes.Fill(0xFF); // As the next read may.
        }

        Assert.Equal(1 + Reads, pool.GetStatistics().Live);
        Assert.True(core.Receive.TryDequeue(out DequeuedMessage dequeued));
        (InboundLease lease, int slot) = (dequeued.Lease, dequeued.Slot);
        int generation = lease.GenerationOf(slot);
        Assert.Equal(Enumerable.Range(0, Reads * PartsOfRead).Select(static part => (byte)(part % PartsOfRead)),
            Enumerable.Range(0, lease.PartsOf(slot)).Select(part => lease.Part(slot, part, generation).Span[0]));
        lease.Release(slot, generation);
        host.Slabs.Account(-OverBudget);
        slabs.Release();
        link.Queue.Abandon();
        Assert.Equal(0, pool.GetStatistics().Live);
    }

    private static WireLink NewLink(RecordingCore core) =>
        new(core, new PairOptions().Snapshot(ZmpSocketType.Pair, alias: null)) { Endpoint = "test", IsActive = false, IsAttached = true };
}
