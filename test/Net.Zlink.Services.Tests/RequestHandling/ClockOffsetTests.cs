using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Ages of requests by two clocks: jitter, drift and jumps of either clock, and requests that really waited.</summary>
public class ClockOffsetTests
{
    private static readonly TimeSpan Refused = TimeSpan.FromSeconds(1); // The time that each request has.

    [Fact]
    public void Jitter_and_drift_make_no_request_old() => Check.QuickThrowOnFailure(Prop.ForAll(
        Gen.Choose(0, 240).SelectMany(jitter => Gen.Choose(-200, 200).SelectMany(drift => Gen.Choose(1, 60_000).SelectMany(gap =>
            Gen.Choose(0, jitter).ArrayOf(300).Select(extra => (jitter, drift, gap, extra))))).ToArbitrary(),
        static world =>
        {
            var offset = new ClockOffset();
            foreach ((int i, int extra) in world.extra.Index())
            {
                double now = (double)i * world.gap;
                double delay = extra + (now * world.drift / 1_000_000);
                Assert.InRange(AgeOf(offset, now, delay).TotalMilliseconds, 0, world.jitter + 0.01);
            }
        }));

    [Fact]
    public void A_clock_that_jumps_or_a_machine_that_stood_still_costs_the_requests_of_a_second_at_most() =>
        Check.QuickThrowOnFailure(Prop.ForAll(
            Gen.Choose(-100_000, 100_000).ArrayOf(4).SelectMany(jumps => Gen.Choose(1, 250).SelectMany(gap => Gen.Choose(-200, 200)
                .SelectMany(drift => Gen.Choose(0, 100).ArrayOf(1000).Select(extra => (jumps, gap, drift, extra))))).ToArbitrary(),
            static world =>
            {
                var offset = new ClockOffset();
                double moved = 0;
                double lastJump = double.MinValue;
                foreach ((int i, int extra) in world.extra.Index())
                {
                    double now = (double)i * world.gap;
                    if (now - lastJump > 5_000 && i < 4 * 200 && i % 200 == 100)
                    {
                        moved += world.jumps[i / 200];
                        lastJump = now;
                    }

                    TimeSpan age = AgeOf(offset, now, extra + moved + (now * world.drift / 1_000_000));
                    Assert.True(age < Refused || now - lastJump <= 1_000, $"refused {now - lastJump} ms behind the jump");
                }
            }));

    [Theory]
    [InlineData(0)] // All at once.
    [InlineData(1)]
    [InlineData(40)] // Ten times as fast as they were sent.
    public void Requests_that_were_held_up_are_as_old_as_they_are(double arrivalGap)
    {
        var offset = new ClockOffset();
        AgeOf(offset, 0, -7);
        const int Held = 150;
        const double SentGap = 400;
        double resumed = 1 + (Held * SentGap);
        for (int i = 0; i < Held; i++)
        {
            double now = resumed + (i * arrivalGap);
            double age = now - 1 - (i * SentGap);
            Assert.InRange(AgeOf(offset, now, age - 7).TotalMilliseconds, age - 15, age); // A minute may drift by 12 ms.
        }
    }

    [Fact]
    public void An_age_that_all_requests_have_because_they_wait_at_the_receiver_is_never_the_clocks()
    {
        var offset = new ClockOffset();
        AgeOf(offset, 0, 0);
        for (double now = 1; now < 60_000; now += 100)
        {
            Assert.InRange(AgeOf(offset, now, 2_000, isWaiting: true).TotalMilliseconds, 1_980, 2_000);
        }
    }

    [Fact]
    public void A_request_every_ten_seconds_is_refused_once_behind_a_jump()
    {
        var offset = new ClockOffset();
        AgeOf(offset, 0, 0);
        Assert.True(AgeOf(offset, 10_000, 10_000) > Refused);
        Assert.Equal(TimeSpan.Zero, AgeOf(offset, 20_000, 10_000));
    }

    /// <summary>As a receiver asks.</summary>
    private static TimeSpan AgeOf(ClockOffset offset, double now, double delay, bool isWaiting = false)
    {
        (TimeSpan at, TimeSpan took) = (TimeSpan.FromMilliseconds(now), TimeSpan.FromMilliseconds(delay));
        TimeSpan age = offset.AgeOf(at, took);
        return age > ClockOffset.Agreement && !isWaiting ? offset.Judge(at, took) : age;
    }
}
