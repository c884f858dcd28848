using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Transports;

public sealed class ReadActivityTests
{
    private readonly ReadActivity _reads = new();
    private int _runs;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_errand_is_run_at_once_while_nobody_reads_or_the_reader_waits(bool isWaiting)
    {
        if (isWaiting)
        {
            _reads.Enter();
            _reads.Rest();
        }

        Task run = _reads.RunAsync(Count);
        Assert.Equal(1, _runs);
        await run;
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_errand_waits_until_the_reader_rests_or_is_through_and_is_run_once(bool rests)
    {
        _reads.Enter();
        _reads.Rest();
        _reads.Resume();
        Task run = _reads.RunAsync(Count);
        Assert.Equal(0, _runs);
        Assert.False(run.IsCompleted);
        if (rests)
        {
            _reads.Rest();
            Assert.Equal(1, _runs);
            _reads.Resume();
        }

        _reads.Leave();
        await run.Guarded();
        Assert.Equal(1, _runs);
    }

    [Fact]
    public async Task What_an_errand_throws_reaches_who_asked_for_it_and_not_the_reader()
    {
        Assert.Throws<IOException>(() => { _ = _reads.RunAsync(static () => throw new IOException("at once")); });
        _reads.Enter();
        Task late = _reads.RunAsync(static () => throw new IOException("late"));
        _reads.Leave();
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
            meetings += Volatile.Read(ref atWork);
            return Task.CompletedTask;
        }

        InParallel(Read, Ask);
        Assert.Equal(0, meetings);

        void Read()
        {
            for (int i = 0; i < Rounds; i++)
            {
                _reads.Enter();
                Work();
                _reads.Rest();
                _reads.Resume();
                Work();
                _reads.Leave();
            }

            Volatile.Write(ref isOver, true);
        }

        void Ask()
        {
            int asked = 0;
            while (!Volatile.Read(ref isOver))
            {
                asked++;
                _ = _reads.RunAsync(Errand);
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
