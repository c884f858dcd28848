using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Whom to dial, alone: without a socket and without a clock.</summary>
public class DialScheduleTests
{
    private const int Crowd = 5_000;

    private static readonly DialLimits FourPlaces = new() { ConcurrentDials = 4, ConnectedPerGroup = 6 };

    [Fact]
    public void Never_tried_ones_go_first_and_of_them_the_newest()
    {
        var schedule = new DialSchedule<string>(new DialLimits { ConcurrentDials = 8 });
        schedule.Add("failed", this, At(0));
        Assert.Equal(["failed"], Dialled(schedule, At(0)));
        schedule.OnEnded("failed", At(0));
        schedule.Add("old", this, At(1));
        schedule.Add("newer", this, At(2));
        schedule.Add("newest", this, At(3));

        Assert.Equal(["newest", "newer", "old", "failed"], Dialled(schedule, At(4)));
    }

    [Fact]
    public void One_that_was_connected_goes_before_those_that_were_never_tried()
    {
        var schedule = new DialSchedule<string>(new DialLimits { ConcurrentDials = 8 });
        schedule.Add("good", this, At(0));
        Assert.Equal(["good"], Dialled(schedule, At(0)));
        schedule.OnReady("good", At(0));
        schedule.OnEnded("good", At(5));
        schedule.Add("new", this, At(6));

        Assert.Equal(["good", "new"], Dialled(schedule, At(6)));
    }

    [Fact]
    public void One_that_was_never_tried_finds_a_place_while_all_others_fail()
    {
        DialSchedule<int> schedule = CrowdThatFailed();
        TimeSpan now = At(1_000);
        _ = Dialled(schedule, now);
        Assert.InRange(schedule.Dialling, 1, 32); // Half of the places: those that failed get no more.

        schedule.Add(-1, this, now);
        Assert.Equal([-1], Dialled(schedule, now));
    }

    [Fact]
    public void One_that_is_listed_last_is_dialled_within_the_patience_while_a_crowd_never_answers()
    {
        var schedule = new DialSchedule<int>(new DialLimits());
        for (int i = 0; i < Crowd; i++)
        {
            schedule.Add(i, this, At(0));
        }

        for (double now = 0; now < 10; now += 0.1)
        {
            _ = Dialled(schedule, At(now));
        }

        schedule.Add(-1, this, At(10));
        Assert.Contains(-1, Dialled(schedule, At(10) + DialLimits.PatienceFor(0)));
    }

    [Fact]
    public void A_dial_ends_for_others_only_when_its_patience_is_over_and_never_while_nobody_waits()
    {
        var schedule = new DialSchedule<int>(new DialLimits { ConcurrentDials = 1 });
        schedule.Add(1, this, At(0));
        Assert.Equal([1], Dialled(schedule, At(0)));
        Assert.False(schedule.TryTake(At(1_000), out _, out _));
        Assert.Null(schedule.NextDue);

        schedule.Add(2, this, At(1_000));
        Assert.True(schedule.TryTake(At(1_000), out int target, out DialStep step));
        Assert.Equal((1, DialStep.GiveUp), (target, step));
        Assert.True(schedule.TryTake(At(1_000), out target, out step));
        Assert.Equal((2, DialStep.Dial), (target, step));
        Assert.False(schedule.TryTake(At(1_000.9), out _, out _));
        Assert.True(schedule.TryTake(At(1_001), out target, out step));
        Assert.Equal((2, DialStep.GiveUp), (target, step));
    }

    [Fact]
    public void The_pauses_of_one_that_fails_grow_and_a_connection_ends_them()
    {
        var schedule = new DialSchedule<int>(new DialLimits());
        schedule.Add(1, this, At(0));
        TimeSpan now = At(0);
        var pauses = new List<double>();
        for (int i = 0; i < 10; i++)
        {
            Assert.Equal([1], Dialled(schedule, now));
            schedule.OnEnded(1, now);
            Assert.Empty(Dialled(schedule, now));
            pauses.Add((schedule.NextDue!.Value - now).TotalSeconds);
            now = schedule.NextDue!.Value;
        }

        Assert.InRange(pauses[0], 0.1, 0.15);
        Assert.InRange(pauses[^1], 2, 3);
        Assert.All(pauses.Zip(pauses.Skip(1)), static pair => Assert.True(pair.Second > pair.First * 0.66));
        Assert.Equal([1], Dialled(schedule, now));
        schedule.OnReady(1, now);
        schedule.OnEnded(1, now + At(60));
        Assert.Empty(Dialled(schedule, now + At(60)));
        Assert.InRange((schedule.NextDue!.Value - now - At(60)).TotalSeconds, 0.1, 0.15);
    }

    [Fact]
    public void A_crowd_that_fails_makes_a_bounded_number_of_dials_a_second()
    {
        DialSchedule<int> schedule = CrowdThatFailed();
        int dials = 0;
        for (double now = 1_000; now < 1_060; now += 0.01)
        {
            foreach (int target in Dialled(schedule, At(now)))
            {
                dials++;
                schedule.OnEnded(target, At(now));
            }
        }

        Assert.InRange(dials, 60 * 100, 60 * 510);
    }

    [Fact]
    public void Beyond_the_limit_of_a_group_others_rotate_in_as_connections_end()
    {
        var schedule = new DialSchedule<int>(FourPlaces with { ConnectedPerGroup = 2 });
        for (int i = 0; i < 5; i++)
        {
            schedule.Add(i, this, At(i));
        }

        Assert.Equal([4, 3], Dialled(schedule, At(5)));
        schedule.OnReady(4, At(5));
        schedule.OnReady(3, At(5));
        Assert.Empty(Dialled(schedule, At(100)));
        schedule.OnEnded(3, At(100));
        Assert.Equal([2], Dialled(schedule, At(100)));
    }

    [Fact]
    public void One_that_a_full_group_shares_with_another_is_dialled_for_the_other()
    {
        var schedule = new DialSchedule<int>(FourPlaces with { ConnectedPerGroup = 1 });
        schedule.Add(1, "full", At(0));
        schedule.Add(2, "full", At(1));
        Assert.Equal([2], Dialled(schedule, At(1)));
        schedule.OnReady(2, At(1));
        Assert.Empty(Dialled(schedule, At(1)));

        schedule.Add(1, "other", At(2));
        Assert.Equal([1], Dialled(schedule, At(2)));
    }

    [Fact]
    public void A_group_that_has_a_crowd_does_not_keep_another_one_waiting()
    {
        var schedule = new DialSchedule<int>(FourPlaces);
        for (int i = 0; i < 100; i++)
        {
            schedule.Add(i, "crowd", At(5));
        }

        schedule.Add(-1, "small", At(0));
        Assert.Contains(-1, Dialled(schedule, At(5)));
    }

    [Fact]
    public void Random_conversations_keep_every_limit_and_lose_nobody() => Check.QuickThrowOnFailure(Prop.ForAll(
        Gen.Choose(0, 5).SelectMany(kind => Gen.Choose(0, 11).SelectMany(target => Gen.Choose(1, 1_500)
            .Select(pause => (kind, target, pause)))).ListOf().ToArbitrary(),
        steps =>
        {
            var schedule = new DialSchedule<int>(FourPlaces);
            var model = new Model(schedule);
            foreach ((int kind, int target, int pause) in steps)
            {
                model.Play(kind, target, TimeSpan.FromMilliseconds(pause));
            }

            model.AllAreDialledAtLast();
        }));

    /// <summary>What its owner sees: who is added, dialled, connected.</summary>
    private sealed class Model(DialSchedule<int> schedule)
    {
        private readonly HashSet<int> _added = [];
        private readonly HashSet<int> _tried = [];
        private readonly HashSet<int> _dialling = [];
        private readonly HashSet<int> _connected = [];
        private TimeSpan _now;

        public void Play(int kind, int target, TimeSpan pause)
        {
            switch (kind)
            {
                case 0:
                    schedule.Add(target, this, _now);
                    _added.Add(target);
                    break;
                case 1:
                    schedule.Remove(target, this);
                    Array.ForEach([_added, _tried, _dialling, _connected], set => set.Remove(target));
                    break;
                case 2:
                    Assert.Equal(_dialling.Remove(target), schedule.OnReady(target, _now));
                    _ = schedule.IsConnected(target) && _connected.Add(target);
                    break;
                case 3:
                    Assert.Equal(_dialling.Remove(target) | _connected.Remove(target), schedule.OnEnded(target, _now));
                    break;
                default:
                    _now += pause;
                    break;
            }

            Take();
        }

        /// <summary>Whatever was before: while every attempt fails, each has its turn.</summary>
        public void AllAreDialledAtLast()
        {
            HashSet<int> waiting = [.. _added.Except(_connected)];
            for (int i = 0; i < 10_000 && waiting.Count > 0 && _connected.Count < 6; i++)
            {
                _now = schedule.NextDue ?? _now + At(10);
                waiting.ExceptWith(Take());
                foreach (int target in _dialling.ToArray())
                {
                    Play(3, target, default);
                    waiting.Remove(target);
                }
            }

            Assert.True(waiting.Count == 0 || _connected.Count == 6, $"{waiting.Count} wait for ever");
        }

        private List<int> Take()
        {
            List<int> dialled = [];
            while (schedule.TryTake(_now, out int target, out DialStep step))
            {
                Assert.Contains(target, _added);
                if (step == DialStep.GiveUp)
                {
                    Assert.True(_dialling.Remove(target));
                    continue;
                }

                Assert.True(_dialling.Add(target) && !_connected.Contains(target));
                _tried.Add(target);
                dialled.Add(target);
            }

            Assert.InRange(_dialling.Count, 0, 4);
            Assert.InRange(_dialling.Count + _connected.Count, 0, 6);
            Assert.Equal(_dialling.Count, schedule.Dialling);
            Assert.True(schedule.NextDue is null || schedule.NextDue > _now);
            bool isPaced = schedule.NextDue <= _now + At(0.01);
            if (_dialling.Count + _connected.Count < 6 && _dialling.Count < 3 && !isPaced)
            {
                Assert.DoesNotContain(_added, target => !_tried.Contains(target)); // Nobody new waits while there is a place.
            }

            return dialled;
        }
    }

    private static TimeSpan At(double seconds) => TimeSpan.FromSeconds(seconds);

    private static List<T> Dialled<T>(DialSchedule<T> schedule, TimeSpan now)
        where T : notnull
    {
        List<T> dialled = [];
        while (schedule.TryTake(now, out T? target, out DialStep step))
        {
            if (step == DialStep.Dial)
            {
                dialled.Add(target);
            }
        }

        return dialled;
    }

    /// <summary>All have failed ten times.</summary>
    private static DialSchedule<int> CrowdThatFailed()
    {
        var schedule = new DialSchedule<int>(new DialLimits());
        for (int i = 0; i < Crowd; i++)
        {
            schedule.Add(i, "crowd", At(0));
        }

        for (double now = 0; now < 300; now += 0.2)
        {
            foreach (int target in Dialled(schedule, At(now)))
            {
                schedule.OnEnded(target, At(now));
            }
        }

        Assert.Equal(Crowd, schedule.Failing);
        return schedule;
    }
}
