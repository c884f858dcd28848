using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Transports;

public sealed class StreamUseTests
{
    private readonly StreamUse _use = new();
    private int _runs;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_errand_is_run_at_once_while_nobody_use_or_the_reader_waits(bool isWaiting)
    {
        if (isWaiting)
        {
            _use.Enter();
            _use.Rest();
        }

        Task run = _use.RunAsync(Count);
        Assert.Equal(1, _runs);
        await run;
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_errand_waits_until_the_reader_rests_or_is_through_and_is_run_once(bool rests)
    {
        _use.Enter();
        _use.Rest();
        _use.Resume();
        Task run = _use.RunAsync(Count);
        Assert.Equal(0, _runs);
        Assert.False(run.IsCompleted);
        if (rests)
        {
            _use.Rest();
            Assert.Equal(1, _runs);
            _use.Resume();
        }

        _use.Leave();
        await run.Guarded();
        Assert.Equal(1, _runs);
    }

    [Fact]
    public async Task What_an_errand_throws_reaches_who_asked_for_it_and_not_the_reader()
    {
        Assert.Throws<IOException>(() => { _ = _use.RunAsync(static () => throw new IOException("at once")); });
        _use.Enter();
        Task late = _use.RunAsync(static () => throw new IOException("late"));
        _use.Leave();
        Assert.Equal("late", (await Assert.ThrowsAsync<IOException>(() => late.Guarded())).Message);
    }

    [Fact]
    public void An_errand_and_a_reader_at_work_never_meet()
    {
        const int Rounds = 20_000;
        int atWork = 0;
        int meetings = 0;
        var isOver = false;
        Task Errand()
        {
            meetings += Volatile.Read(ref atWork);
            _runs++;
            Thread.SpinWait(20); // So long that the reader, were it not kept, would come to work meanwhile.
            meetings += Volatile.Read(ref atWork);
            return Task.CompletedTask;
        }

        InParallel(Read, Ask);
        Assert.Equal(0, meetings);

        void Read()
        {
            for (int i = 0; i < Rounds; i++)
            {
                _use.Enter();
                Work();
                _use.Rest();
                _use.Resume();
                Work();
                _use.Leave();
            }

            Volatile.Write(ref isOver, true);
        }

        void Ask()
        {
            int asked = 0;
            while (!Volatile.Read(ref isOver))
            {
                asked++;
                _ = _use.RunAsync(Errand);
                Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref _runs) == asked, Patience));
            }
        }

        void Work()
        {
            Volatile.Write(ref atWork, 1);
            Thread.SpinWait(5);
            Volatile.Write(ref atWork, 0);
        }
    }

    private Task Count()
    {
        _runs++;
        return Task.CompletedTask;
    }
}
