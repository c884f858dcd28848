using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Tests.Buffers;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>Random operations on an outbound queue and, beside it, on a model small enough to be seen to be right.</summary>
public sealed class OutboundQueuePropertyTests
{
    private enum Kind
    {
        Append,
        AppendShared,
        AppendOrWait,
        Donate,
        Write,
        BeginWrite,
        Cancel,
        Close,
        Abandon,
    }

    [Fact]
    public void After_any_operations_the_books_balance_the_bytes_are_in_order_and_every_buffer_is_back()
    {
        Gen<int> length = Gen.Frequency((12, Gen.Choose(0, 60)), (3, Gen.Choose(500, 3_000)),
            (1, Gen.Choose(OutgoingMessage.LargePayload - 5, OutgoingMessage.LargePayload + 5)));
        Gen<Kind> kind = Gen.Frequency(
            (12, Gen.Constant(Kind.Append)),
            (4, Gen.Constant(Kind.AppendShared)),
            (8, Gen.Constant(Kind.AppendOrWait)),
            (4, Gen.Constant(Kind.Donate)),
            (12, Gen.Constant(Kind.Write)),
            (3, Gen.Constant(Kind.BeginWrite)),
            (4, Gen.Constant(Kind.Cancel)),
            (1, Gen.Choose(0, 3).Select(n => n == 0 ? Kind.Close : Kind.Write)),
            (1, Gen.Choose(0, 5).Select(n => n == 0 ? Kind.Abandon : Kind.Append)));
        Gen<(Kind, int)> operation =
            from k in kind
            from l in length
            select (k, l);
        int shape = 0;
        ForAllArrays(operation, 300, operations =>
        {
            // Limits by turns: none, messages, bytes, both. A shrunk example runs under each of them anyway.
            QueueLimits[] limits = [default, new(4, 0), new(0, 2_000), new(5, 3_000)];
            Run(operations, limits[shape++ % limits.Length]);
        });
    }

    private static void Run((Kind Kind, int Length)[] operations, QueueLimits limits)
    {
        BufferPool pool = TestPools.Create();
        using var bench = new OutboundFixture(pool, limits);
        var model = new Model(limits);
        var waits = new List<(Task<SendStatus> Task, CancellationTokenSource Source, CountingOwner? Owner, Model.Waiting Waiting)>();
        var owners = new List<(CountingOwner Owner, Func<bool> Taken)>();
        int seed = 0;
        bool abandoned = false;
        foreach ((Kind kind, int length) in operations)
        {
            byte[] payload = Pattern(length, seed++);
            switch (kind)
            {
                case Kind.Append:
                    Assert.Equal(model.Append(payload), bench.Append(payload));
                    break;
                case Kind.AppendShared:
                    Assert.Equal(model.Append(payload), bench.AppendShared(payload));
                    break;
                case Kind.AppendOrWait or Kind.Donate:
                    CountingOwner? owner = kind == Kind.Donate ? new CountingOwner(payload) : null;
                    var source = new CancellationTokenSource();
                    (SendStatus status, Task<SendStatus>? wait) = bench.AppendOrWait(payload, owner, source);
                    SendStatus expected = model.AppendOrWait(payload, out Model.Waiting? waiting);
                    Assert.Equal(expected, status);
                    if (wait is not null)
                    {
                        waits.Add((wait, source, owner, waiting!));
                    }

                    if (owner is not null)
                    {
                        owners.Add((owner, () => waiting is null ? expected == SendStatus.Accepted
                            : waiting.Outcome == SendStatus.Accepted));
                    }

                    break;
                case Kind.Write:
                    if (!abandoned && bench.WriteOne() is { } written)
                    {
                        model.Written(written.Messages, written.Bytes);
                    }

                    break;
                case Kind.BeginWrite:
                    if (!abandoned)
                    {
                        bench.BeginWrite();
                    }

                    break;
                case Kind.Cancel when waits.Count > 0:
                    (_, CancellationTokenSource cancelled, _, Model.Waiting leaving) = waits[length % waits.Count];
                    cancelled.Cancel();
                    model.Cancel(leaving);
                    break;
                case Kind.Close:
                    bench.Queue.Close();
                    model.Close();
                    break;
                case Kind.Abandon:
                    bench.Queue.Abandon();
                    bench.ReleaseWriting();
                    model.Abandon();
                    abandoned = true;
                    break;
            }

            model.Check(bench.Queue.Counts);
            Assert.Equal(model.Status, bench.Status);
        }

        while (!abandoned && bench.WriteOne() is { } rest)
        {
            model.Written(rest.Messages, rest.Bytes);
            model.Check(bench.Queue.Counts);
        }

        Assert.True(model.Wire.SequenceEqual(bench.Wire), "The bytes differ.");
        bench.Dispose();
        model.Abandon();
        foreach ((Task<SendStatus> task, CancellationTokenSource source, _, Model.Waiting waiting) in waits)
        {
            // Cancelled, or completed with the model's outcome; continuations of AsTask run inline, so it is known by now or in a moment.
            Assert.True(SpinWait.SpinUntil(() => task.IsCompleted, Patience));
            Assert.Equal(waiting.IsCancelled, task.IsCanceled);
            if (!waiting.IsCancelled)
            {
                Assert.Equal(waiting.Outcome, (SendStatus?)task.GetAwaiter().GetResult());
            }

            source.Dispose();
        }

        Assert.All(owners, o => Assert.Equal(o.Taken() ? 1 : 0, o.Owner.Disposals));
        Assert.Equal(0, pool.GetStatistics().Live);
        pool.Dispose();
    }

    private sealed class Model(QueueLimits limits)
    {
        private readonly LinkedList<Waiting> _line = [];
        private readonly List<byte> _unwritten = [];
        private QueueCounts _counts;
        private bool _closed;

        public List<byte> Wire { get; } = [];

        public SendStatus Status => _closed ? SendStatus.Closed : _line.Count > 0 || IsFull ? SendStatus.Full : SendStatus.Accepted;

        private bool IsFull =>
            _counts.QueuedMessages > 0
            && ((limits.Messages > 0 && _counts.QueuedMessages >= limits.Messages)
                || (limits.Bytes > 0 && _counts.QueuedBytes >= limits.Bytes));

        public SendStatus Append(byte[] payload)
        {
            SendStatus status = Status;
            if (status == SendStatus.Accepted)
            {
                Take(payload);
            }

            return status;
        }

        public SendStatus AppendOrWait(byte[] payload, out Waiting? waiting)
        {
            SendStatus status = Append(payload);
            waiting = status == SendStatus.Full ? new Waiting(payload) : null;
            if (waiting is not null)
            {
                _line.AddLast(waiting);
            }

            return status;
        }

        public void Written(int messages, int bytes)
        {
            _counts.QueuedMessages -= messages;
            _counts.QueuedBytes -= bytes;
            _counts.TakenMessages += messages;
            _counts.TakenBytes += bytes;
            Wire.AddRange(_unwritten[..bytes]);
            _unwritten.RemoveRange(0, bytes);
            bool isFreed = (limits.Messages == 0 || _counts.QueuedMessages <= (limits.Messages + 1) / 2)
                && (limits.Bytes == 0 || _counts.QueuedBytes <= limits.Bytes / 2);
            while (isFreed && _line.First is { } first && !IsFull)
            {
                _line.RemoveFirst();
                Take(first.Value.Payload);
                first.Value.Outcome = SendStatus.Accepted;
            }
        }

        public void Cancel(Waiting waiting) => waiting.IsCancelled |= _line.Remove(waiting);

        public void Close()
        {
            _closed = true;
            foreach (Waiting waiting in _line)
            {
                waiting.Outcome = SendStatus.Closed;
            }

            _line.Clear();
        }

        public void Abandon()
        {
            Close();
            _counts.DroppedMessages += _counts.QueuedMessages;
            _counts.DroppedBytes += _counts.QueuedBytes;
            _counts.QueuedMessages = 0;
            _counts.QueuedBytes = 0;
        }

        public void Check(QueueCounts actual)
        {
            Assert.Equal(_counts, actual);
        }

        private void Take(byte[] payload)
        {
            byte[] frame = OutboundFixture.Frame(payload);
            _unwritten.AddRange(frame);
            _counts.QueuedMessages++;
            _counts.QueuedBytes += frame.Length;
        }

        public sealed class Waiting(byte[] payload)
        {
            public byte[] Payload => payload;

            public SendStatus? Outcome { get; set; }

            public bool IsCancelled { get; set; }
        }
    }
}
