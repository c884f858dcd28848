using System.Globalization;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Sockets.Links;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>Connections that wait for room in a lane that they share.</summary>
public sealed class PausedReadersTests
{
    [Fact]
    public void Of_many_that_wait_only_as_many_are_told_as_there_is_room_for_and_in_the_order_in_which_they_came()
    {
        using var world = new Fixture(mark: 4);
        world.Fill();
        Source[] sources = [.. Enumerable.Range(0, 100).Select(_ => world.Add())];
        foreach (Source source in sources)
        {
            Assert.False(source.MayRead());
            Assert.False(source.MayRead()); // However often it asks, it stands there once.
        }

        Assert.Equal(sources.Length, world.Room.Count);
        Hold(world.Shard, () =>
        {
            world.Take(2); // Half of the mark is free. The turns end behind this.
            Assert.Equal([1, 1, 0], sources[..3].Select(static s => s.Resumed));
            Assert.Equal(sources.Length - 2, world.Room.Count);
        });
    }

    [Fact]
    public void A_resumed_reader_without_input_lets_the_next_paused_reader_resume()
    {
        using var world = new Fixture(mark: 1);
        world.Fill();
        Source[] sources = [.. Enumerable.Range(0, 10).Select(_ => world.Add())];
        Assert.All(sources, static source => Assert.False(source.MayRead()));
        world.Take(1);
        Drain(world.Shard);
        Assert.All(sources, static source => Assert.Equal(1, source.Resumed));
    }

    [Fact]
    public void A_paused_reader_that_leaves_first_or_after_its_notification_delays_no_other()
    {
        using var world = new Fixture(mark: 1);
        world.Fill();
        (Source told, Source first, Source last) = (world.Add(), world.Add(), world.Add());
        Assert.False(told.MayRead() || first.MayRead() || last.MayRead());
        Hold(world.Shard, () =>
        {
            world.Take(1);
            Assert.Equal((1, 0, 0), (told.Resumed, first.Resumed, last.Resumed));
            world.Room.Remove(told.Waiter);
            world.Room.Remove(first.Waiter);
            world.Room.Remove(first.Waiter);
        });
        Drain(world.Shard);
        Assert.Equal((1, 0, 1), (told.Resumed, first.Resumed, last.Resumed));
        Assert.Equal(0, world.Room.Count);
    }

    [Fact]
    public void A_resumed_reader_that_finds_no_capacity_is_the_first_to_resume_again()
    {
        using var world = new Fixture(mark: 1);
        world.Fill();
        (Source robbed, Source other) = (world.Add(), world.Add());
        Assert.False(robbed.MayRead() || other.MayRead());
        Hold(world.Shard, () =>
        {
            world.Take(1);
            world.Fill();
            Assert.Equal((1, 0), (robbed.Resumed, other.Resumed));
            Assert.False(robbed.MayRead());
        });
        Drain(world.Shard);
        Hold(world.Shard, () =>
        {
            world.Take(1);
            Assert.Equal((2, 0), (robbed.Resumed, other.Resumed));
            Assert.True(robbed.MayRead());
            world.Fill();
            Assert.False(robbed.MayRead()); // It has had its turn: the other is before it.
        });
        Drain(world.Shard);
        world.Take(1);
        Assert.Equal(1, other.Resumed);
    }

    [Fact]
    public void A_reader_whose_turn_begins_does_not_overtake_those_that_wait()
    {
        using var world = new Fixture(mark: 1);
        world.Fill();
        (Source first, Source hasty) = (world.Add(), world.Add());
        Assert.False(first.MayRead(mayOvertake: false));
        Hold(world.Shard, () =>
        {
            world.Take(1);
            Source[] crowd = [world.Add(), world.Add()];
            world.Fill();
            Assert.All(crowd, static one => Assert.False(one.MayRead(mayOvertake: false)));
            world.Take(1);
            Assert.False(hasty.MayRead(mayOvertake: false)); // There is capacity, and others have waited for it.
            Assert.True(first.MayRead(mayOvertake: false));
        });
        Drain(world.Shard);
        Assert.Equal(1, hasty.Resumed);
        Assert.Equal(0, world.Room.Count);
    }

    [Fact]
    public void A_reader_that_pauses_while_capacity_is_freed_reads_on_or_is_resumed()
    {
        using var world = new Fixture(mark: 1);
        Source source = world.Add();
        world.Fill();
        Assert.False(world.Pipe.Lane.MayRead());
        world.Take(1); // Between the look and the line: nobody is there to be told.
        Assert.False(world.Room.Add(source.Waiter, mayOvertake: true));
        Assert.Equal((0, 0), (source.Resumed, world.Room.Count));
    }

    [Fact]
    public void When_the_mark_is_raised_the_first_read_on_at_once()
    {
        using var world = new Fixture(mark: 1);
        world.Fill();
        Source[] sources = [.. Enumerable.Range(0, 5).Select(_ => world.Add())];
        Assert.All(sources, static source => Assert.False(source.MayRead()));
        Hold(world.Shard, () =>
        {
            world.Raise(3);
            Assert.Equal([1, 1, 0, 0, 0], sources.Select(static s => s.Resumed));
        });
    }

    [Fact]
    public void Without_a_mark_in_messages_no_more_are_told_at_once_than_a_few_and_the_rest_behind_them()
    {
        using var world = new Fixture(mark: 1);
        world.Fill();
        Source[] sources = [.. Enumerable.Range(0, 200).Select(_ => world.Add())];
        Assert.All(sources, static source => Assert.False(source.MayRead()));
        Hold(world.Shard, () =>
        {
            world.Raise(0);
            Assert.Equal(64, sources.Sum(static s => s.Resumed));
        });
        Drain(world.Shard);
        Assert.All(sources, static source => Assert.Equal(1, source.Resumed));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(7)]
    public void With_several_shards_and_many_that_come_read_and_leave_all_is_brought(int mark)
    {
        const int Each = 20;
        using var world = new Fixture(mark);
        ShardLoop[] shards = [NewShard(), NewShard(), NewShard()];
        Source[] sources = [.. Enumerable.Range(0, 30).Select(i => world.Add(shards[i % shards.Length], Each, i))];
        Array.ForEach(sources, static source => source.Start());
        var random = new Random(mark);
        int taken = 0;
        int due = Each * sources.Length;
        long last = TimeProvider.System.GetTimestamp();
        while (taken < due)
        {
            // Since the last one, not all of them: each is two changes of threads, which busy processors take their time for.
            Assert.True(TimeProvider.System.GetElapsedTime(last) < Patience,
                $"{due - taken} of {due} did not come, {world.Room.Count} wait");
            if (!world.TryTake())
            {
                Thread.Yield();
                continue;
            }

            taken++;
            last = TimeProvider.System.GetTimestamp();
            if (random.Next(50) == 0)
            {
                world.Raise(random.Next(1, 2 * mark));
            }

            if (random.Next(60) == 0)
            {
                Source leaving = sources[random.Next(sources.Length)];
                due -= leaving.LeaveOnShard();
            }
        }

        Array.ForEach(shards, Drain);
        Assert.False(world.TryTake());
        Assert.Equal(0, world.Room.Count);
    }

    /// <summary>A lane of an XPUB's, which is read in the order of arrival, and those who fill it.</summary>
    private sealed class Fixture : IDisposable
    {
        private readonly TestCore _core = TestCore.Create(ZmpSocketType.XPub);

        public Fixture(int mark)
        {
            Pipe = TestLink.Create(_core, new QueueLimits(mark, 0), isShared: true);
            Room = new PausedReaders(() => Pipe.Lane.FreeReads);
            Pipe.OnRoom = Room.ResumeWaiters;
        }

        public TestLink Pipe { get; }

        public PausedReaders Room { get; }

        public ShardLoop Shard { get; } = NewShard();

        public Source Add() => new(this, Shard, 0, 0);

        public Source Add(ShardLoop shard, int messages, int seed) => new(this, shard, messages, seed);

        public void Fill()
        {
            while (Pipe.Publish("x"))
            {
                // until it is full
            }
        }

        public bool TryTake() => _core.Receive.Take() is not null;

        public void Take(int count)
        {
            for (int i = 0; i < count; i++)
            {
                Assert.True(TryTake());
            }
        }

        public void Raise(int mark)
        {
            if (Pipe.Lane.SetLimits(new QueueLimits(mark, 0)))
            {
                Room.ResumeWaiters();
            }
        }

        public void Dispose()
        {
            _core.Receive.Close(static () => new InvalidOperationException());
            _core.Receive.Drop(Pipe.Lane);
            _core.Dispose();
        }
    }

    /// <summary>A connection as far as reading goes: a few messages a read, then the next of its shard.</summary>
    private sealed class Source
    {
        private readonly Fixture _world;
        private readonly ShardLoop _shard;
        private readonly Random _random;
        private readonly TestWork _reading;
        private int _left;
        private int _resumed;

        public Source(Fixture world, ShardLoop shard, int messages, int seed)
        {
            _world = world;
            _shard = shard;
            _left = messages;
            _random = new Random(seed);
            _reading = new TestWork(_ => Read());
            Waiter = new PausedReader(world.Room, shard, Resume);
        }

        public PausedReader Waiter { get; }

        public int Resumed => Volatile.Read(ref _resumed);

        public void Start() => _shard.Post(_reading, 1);

        public bool MayRead(bool mayOvertake = true) =>
            _world.Room.MayRead(Waiter, mayOvertake) || !_world.Room.Add(Waiter, mayOvertake);

        /// <summary>Returns how many messages do not come then.</summary>
        public int LeaveOnShard()
        {
            int missing = 0;
            OnShardAsync(_shard, () =>
            {
                (missing, _left) = (_left, 0);
                _world.Room.Remove(Waiter);
            }).GetAwaiter().GetResult();
            return missing;
        }

        private void Resume()
        {
            Interlocked.Increment(ref _resumed);
            _shard.Post(_reading, 1);
        }

        private void Read()
        {
            if (_left == 0 || !MayRead())
            {
                return;
            }

            int count = Math.Min(_left, _random.Next(1, 4));
            _left -= count;
            for (int i = 0; i < count; i++)
            {
                _world.Pipe.Publish(i.ToString(CultureInfo.InvariantCulture));
            }

            // Some say behind their read that they are stopped, some find it out before the next.
            if (_left % 2 == 0 || MayRead())
            {
                _shard.Post(_reading, 1);
            }
        }
    }
}
