using Xunit;

namespace Net.Zlink.Services.Tests;

public sealed class LinkHealthTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private readonly LinkHealth _health = new(row: 5);
    private DateTimeOffset _now = DateTimeOffset.UnixEpoch;
    private long _answeredByOthers;

    [Fact]
    public void The_fifth_time_out_in_a_row_takes_it_out_while_others_answer()
    {
        Assert.Equal("----+", string.Concat(Enumerable.Range(0, 5).Select(_ => TimeOut() ? '+' : '-')));
    }

    [Fact]
    public void A_message_of_its_receiver_begins_a_new_row()
    {
        for (int i = 0; i < 20; i++)
        {
            Assert.False(TimeOut());
            if (i % 4 == 3)
            {
                Assert.False(_health.OnReceived(_now));
                Assert.False(_health.IsInDoubt);
            }
        }
    }

    [Fact]
    public void Time_outs_while_nobody_answers_in_time_take_nobody_out()
    {
        for (int i = 0; i < 50; i++)
        {
            Assert.False(TimeOut(othersAnswer: false));
        }

        Assert.True(TimeOut());
    }

    [Fact]
    public void Requests_that_were_sent_together_do_not_take_it_out_before_one_that_was_sent_later()
    {
        DateTimeOffset sentAt = _now;
        _now += Second;
        for (int i = 0; i < 100; i++)
        {
            Assert.False(_health.OnTimeOut(sentAt, _now, _answeredByOthers++));
        }

        Assert.True(TimeOut());
    }

    [Fact]
    public void It_is_out_for_5_s_doubling_to_60_while_its_trials_are_lost()
    {
        List<double> pauses = [];
        _health.TakeOut(_now);
        for (int i = 0; i < 6; i++)
        {
            pauses.Add(_health.Pause.TotalSeconds);
            _now += _health.Pause - TimeSpan.FromTicks(1);
            _health.Check(isHeartbeatAnswered: true, _now);
            Assert.Equal(LinkStanding.Out, _health.Standing);
            _now += TimeSpan.FromTicks(1);
            _health.Check(isHeartbeatAnswered: true, _now);
            Assert.Equal(LinkStanding.Probed, _health.Standing);
            Assert.True(_health.BeginTrial(_now));
            Assert.False(_health.BeginTrial(_now));
            Assert.False(TimeOut());
            Assert.Equal(LinkStanding.Out, _health.Standing);
        }

        Assert.Equal([5, 10, 20, 40, 60, 60], pauses);
    }

    [Fact]
    public void It_is_not_tried_before_a_heartbeat_was_answered()
    {
        _health.TakeOut(_now);
        for (int i = 0; i < 10; i++)
        {
            _now = _health.CheckAt;
            _health.Check(isHeartbeatAnswered: false, _now);
            Assert.Equal((LinkStanding.Out, _now + Second), (_health.Standing, _health.CheckAt));
        }

        _now = _health.CheckAt;
        _health.Check(isHeartbeatAnswered: true, _now);
        Assert.True(_health.BeginTrial(_now));
    }

    [Fact]
    public void A_trial_that_its_caller_ends_is_made_again_with_the_next_request()
    {
        Try();
        _health.EndTrial(_now);
        Assert.Equal(LinkStanding.Probed, _health.Standing);
        Assert.True(_health.BeginTrial(_now));
        Assert.True(_health.OnReceived(_now));
        Assert.Equal((LinkStanding.In, false), (_health.Standing, _health.IsInDoubt));
    }

    [Fact]
    public void A_time_out_of_a_request_from_before_does_not_end_the_trial()
    {
        DateTimeOffset before = _now;
        Try();
        _now += Second;
        Assert.False(_health.OnTimeOut(before, _now, 0));
        Assert.Equal(LinkStanding.OnTrial, _health.Standing);
    }

    [Theory]
    [InlineData(4, 10)]
    [InlineData(6, 5)]
    public void It_is_out_for_longer_where_it_was_in_for_less_than_it_was_out_before(int inFor, int nextPause)
    {
        Try();
        _health.OnReceived(_now);
        _now += inFor * Second;
        _health.TakeOut(_now);
        Assert.Equal(nextPause * Second, _health.Pause);
    }

    [Fact]
    public void Without_a_row_nothing_takes_it_out()
    {
        var health = new LinkHealth(row: 0);
        Assert.DoesNotContain(true, Enumerable.Range(0, 100).Select(i => health.OnTimeOut(_now + (i * Second), _now + (i * Second), i)));
    }

    private void Try()
    {
        _health.TakeOut(_now);
        _now = _health.CheckAt;
        _health.Check(isHeartbeatAnswered: true, _now);
        Assert.True(_health.BeginTrial(_now));
    }

    private bool TimeOut(bool othersAnswer = true)
    {
        DateTimeOffset sentAt = _now;
        _now += Second;
        _answeredByOthers += othersAnswer ? 1 : 0;
        return _health.OnTimeOut(sentAt, _now, _answeredByOthers);
    }
}
