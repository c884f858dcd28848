using System.Buffers.Binary;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Buffers;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>Random messages, random progress of the writes, connections lost at any byte: what the connections carried, taken together, are
/// whole messages in order.</summary>
public sealed class OutboundLossPropertyTests
{
    private enum Kind
    {
        Single,
        Donated,
        Shared,
        Built,
        PassedOn,
        Control,
        Write,
        WriteAll,
        Hold,
        Lose,
        Drop,
    }

    private static Gen<int> Lengths => Gen.Frequency(
        (10, Gen.Choose(0, 60)),
        (4, Gen.Choose(500, 3_000)),
        (3, Gen.Choose(OutgoingMessage.LargePayload - 5, OutgoingMessage.LargePayload + 5)),
        (1, Gen.Choose(30_000, 70_000)));

    private static Gen<Kind> Kinds => Gen.Frequency(
        (6, Gen.Constant(Kind.Single)),
        (2, Gen.Constant(Kind.Donated)),
        (2, Gen.Constant(Kind.Shared)),
        (6, Gen.Constant(Kind.Built)),
        (3, Gen.Constant(Kind.PassedOn)),
        (2, Gen.Constant(Kind.Control)),
        (14, Gen.Constant(Kind.Write)),
        (2, Gen.Constant(Kind.WriteAll)),
        (1, Gen.Constant(Kind.Hold)),
        (3, Gen.Constant(Kind.Lose)));

    [Fact]
    public void Messages_over_lost_connections_arrive_whole_once_and_in_order_or_count_as_dropped() =>
        ForAllArrays(Operations(Kinds), 400, operations => new Run(conflates: false).Play(operations));

    [Fact]
    public void Dropping_what_waits_tears_no_message_either() =>
        ForAllArrays(Operations(Gen.Frequency((12, Kinds), (1, Gen.Constant(Kind.Drop)))), 300,
            operations => new Run(conflates: false).Play(operations));

    [Fact]
    public void A_conflating_queue_keeps_the_newest_and_tears_no_message_either() =>
        ForAllArrays(Operations(Kinds), 300, operations => new Run(conflates: true).Play(operations));

    private static Gen<(Kind, int, int)> Operations(Gen<Kind> kinds) =>
        from kind in kinds
        from length in Lengths
        from choice in Gen.Choose(0, 1_000)
        select (kind, length, choice);

    private sealed class Run(bool conflates)
    {
        private readonly BufferPool _pool = TestPools.Create();
        private readonly List<byte[][]> _sent = [];
        private readonly List<CountingOwner> _owners = [];
        private readonly List<List<byte>> _wires = [[]];
        private OutboundQueue _queue = null!;
        private Slab.SlabCache _slabs = null!;
        private OutboundSegment? _writing;
        private bool _anyLeak;

        public void Play((Kind Kind, int Length, int Choice)[] operations)
        {
            _slabs = new Slab.SlabCache(_pool);
            _queue = new OutboundQueue(_pool, ZmpFrame.Format, default) { Conflates = conflates };
            foreach ((Kind kind, int length, int choice) in operations)
            {
                Step(kind, length, choice);
                CheckBooks();
            }

            _queue.Release();
            Write(int.MaxValue, 0);
            QueueCounts counts = CheckBooks();
            Assert.Equal((0, 0), (counts.QueuedMessages, counts.QueuedBytes));
            CheckWires(counts);
            _queue.Abandon();
            Assert.All(_owners, o => Assert.Equal(1, o.Disposals));
            Assert.Equal(0, _pool.GetStatistics().Live);
            _pool.Dispose();
        }

        private void Step(Kind kind, int length, int choice)
        {
            switch (kind)
            {
                case Kind.Write:
                    Write(1 + (length * (choice % 4)), choice);
                    break;
                case Kind.WriteAll:
                    Write(int.MaxValue, choice);
                    break;
                case Kind.Hold:
                    _queue.PauseSending();
                    break;
                case Kind.Lose:
                    Lose(choice);
                    break;
                case Kind.Drop:
                    _queue.DropQueued();
                    break;
                case Kind.Control:
                    byte[] frame = new byte[ZmpFrame.HeaderSize + 3];
                    ZmpFrame.WriteHeader(frame, ZmpFlags.Control, 3);
                    Assert.True(_queue.TryAppendControl(frame));
                    break;
                default:
                    Append(kind, length, choice);
                    break;
            }
        }

        private void Append(Kind kind, int length, int choice)
        {
            int parts = kind is Kind.Built or Kind.PassedOn ? 1 + (choice % 4) : 1;
            byte[][] message = [.. Enumerable.Range(0, parts).Select(i => Part(i, i % 2 == choice % 2 ? length : choice))];
            SendStatus status;
            byte[] only = message[0];
            switch (kind)
            {
                case Kind.Single:
                    status = _queue.TryAppend(new OutgoingMessage(only), out _);
                    break;
                case Kind.Donated:
                    CountingOwner owner = Owned(only);
                    status = _queue.TryAppend(new OutgoingMessage(owner.Memory, owner), out _);
                    break;
                case Kind.Shared:
                    Slab slab = _slabs.Rent(only.Length + ZmpFrame.HeaderSize);
                    ZmpFrame.WriteHeader(slab.Array, ZmpFlags.None, (uint)only.Length);
                    only.CopyTo(slab.Array, ZmpFrame.HeaderSize);
                    status = _queue.TryAppendShared(slab, 0, only.Length + ZmpFrame.HeaderSize, 1, out _);
                    slab.Release();
                    break;
                case Kind.Built:
                    var built = new EncodedMessage(_pool, ZmpFrame.Format);
                    for (int i = 0; i < parts; i++)
                    {
                        if ((choice >> i) % 3 == 0)
                        {
                            built.Add(Owned(message[i]), message[i].Length);
                        }
                        else
                        {
                            built.Add(message[i]);
                        }
                    }

                    status = _queue.TryAppend(new OutgoingMessage(built), out _);
                    Assert.Equal(0, built.Parts);
                    built.Release();
                    break;
                default:
                    InboundLease lease = InboundLease.Rent(slab: null, source: null);
                    foreach (byte[] part in message)
                    {
                        Slab place = _slabs.Rent(part.Length + 7);
                        part.CopyTo(place.Array, 7);
                        lease.AddPart(place, 7, part.Length);
                    }

                    lease.EndMessage();
                    status = _queue.TryAppend(new OutgoingMessage(lease, 0), out _);
                    lease.Release(0, lease.GenerationOf(0));
                    break;
            }

            Assert.Equal(SendStatus.Accepted, status);
            _sent.Add(message);
            if (conflates)
            {
                // The newest, one whose beginning has left, and what is on its way, which may be packed.
                Assert.InRange(_queue.Counts.QueuedMessages, 1, 2 + OnTheirWay().Sum(static segment => segment.Messages));
            }
        }

        private byte[] Part(int index, int length)
        {
            byte[] part = Pattern(length, _sent.Count + index);
            if (index > 0)
            {
                return part;
            }

            byte[] numbered = new byte[Math.Max(4, length)];
            part.CopyTo(numbered, 0);
            BinaryPrimitives.WriteInt32LittleEndian(numbered, _sent.Count);
            return numbered;
        }

        private CountingOwner Owned(byte[] bytes)
        {
            var owner = new CountingOwner(bytes);
            _owners.Add(owner);
            return owner;
        }

        /// <summary>As a connection writes: one segment at a time, or all that are linked to it at once, and what is left of these may be
        /// put back when there is no room.</summary>
        private void Write(int bytes, int choice)
        {
            bool several = choice % 3 != 0;
            _writing ??= _queue.NextToWrite(several);
            while (_writing is not null && bytes > 0)
            {
                bytes -= HandOver(bytes);
                while (_writing is { } written && written.Sent == written.Length)
                {
                    _writing = _queue.Written(written, several);
                }
            }

            if (_writing is not null && choice % 2 == 0)
            {
                _queue.PutBack(_writing);
                Assert.Null(_writing.Next);
            }
        }

        private IEnumerable<OutboundSegment> OnTheirWay()
        {
            for (OutboundSegment? segment = _writing; segment is not null; segment = segment.Next)
            {
                yield return segment;
            }
        }

        /// <summary>The kernel takes so many bytes in one write, or as many as there are.</summary>
        private int HandOver(int bytes)
        {
            int left = bytes;
            foreach (OutboundSegment segment in OnTheirWay())
            {
                int taken = Math.Min(left, segment.Length - segment.Sent);
                _wires[^1].AddRange(segment.Memory.Span.Slice(segment.Sent, taken));
                segment.Sent += taken;
                left -= taken;
            }

            return bytes - left;
        }

        private void Lose(int choice)
        {
            OutboundSegment? broken = _writing;
            if (choice % 7 == 3)
            {
                HandOver(choice * 200); // Written, and lost before that was accounted for.
            }
            else if (broken is not null && choice % 3 == 0)
            {
                // A send is pending: the kernel may have taken some of it, nobody knows how much.
                int open = (broken.Length - broken.Sent) * (choice % 7) / 6;
                int leaked = open * (choice % 5) / 4;
                broken.Exposed = broken.Sent + open;
                _wires[^1].AddRange(broken.Memory.Span.Slice(broken.Sent, leaked));
                _anyLeak |= leaked > 0;
            }

            _queue.Detach();
            if (choice % 2 == 0)
            {
                _queue.Detach(); // The next connection may fail before the pending send of this one has ended.
            }

            _writing = null;
            _wires.Add([]);
            _queue.Release();
            if (choice % 4 == 1)
            {
                Write(choice, choice); // The next connection writes already.
            }

            _queue.ReleaseInFlight(broken);
        }

        private QueueCounts CheckBooks()
        {
            QueueCounts counts = _queue.Counts;
            Assert.Equal(_sent.Count, counts.AcceptedMessages);
            Assert.Equal(counts.AcceptedMessages, counts.TakenMessages + counts.QueuedMessages + counts.DroppedMessages);
            Assert.Equal(counts.AcceptedBytes, counts.TakenBytes + counts.QueuedBytes + counts.DroppedBytes);
            Assert.True(counts is { QueuedMessages: >= 0, QueuedBytes: >= 0, DroppedMessages: >= 0, DroppedBytes: >= 0 });
            return counts;
        }

        private void CheckWires(in QueueCounts counts)
        {
            int next = 0;
            int received = 0;
            for (int i = 0; i < _wires.Count; i++)
            {
                List<byte[][]> messages = Parse([.. _wires[i]], out bool isWhole);
                Assert.True(isWhole || i < _wires.Count - 1, "The last connection ended in the middle of a message.");
                foreach (byte[][] message in messages)
                {
                    int number = BinaryPrimitives.ReadInt32LittleEndian(message[0]);
                    Assert.InRange(number, next, _sent.Count - 1); // In order, none twice.
                    Assert.Equal(_sent[number], message);
                    next = number + 1;
                    received++;
                }
            }

            Assert.InRange(received, counts.TakenMessages, counts.TakenMessages + (_anyLeak ? counts.DroppedMessages : 0));
        }

        private static List<byte[][]> Parse(ReadOnlySpan<byte> wire, out bool isWhole)
        {
            List<byte[][]> messages = [];
            List<byte[]> parts = [];
            isWhole = true;
            while (!wire.IsEmpty)
            {
                if (wire.Length < ZmpFrame.HeaderSize || wire.Length < ZmpFrame.HeaderSize + ZmpFrame.ReadLength(wire))
                {
                    isWhole = false;
                    return messages;
                }

                ZmpFlags flags = (ZmpFlags)wire[ZmpFrame.FlagsOffset];
                byte[] body = wire.Slice(ZmpFrame.HeaderSize, ZmpFrame.ReadLength(wire)).ToArray();
                wire = wire[(ZmpFrame.HeaderSize + body.Length)..];
                if (flags == ZmpFlags.Control)
                {
                    continue;
                }

                parts.Add(body);
                if (flags == ZmpFlags.None)
                {
                    messages.Add([.. parts]);
                    parts.Clear();
                }
            }

            isWhole = parts.Count == 0;
            return messages;
        }
    }
}
