using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Transports;

public sealed class StreamUseTests
{
    private readonly TlsShutdownGate _use = new();
    private int _runs;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_errand_is_run_at_once_while_nobody_reads_or_the_reader_waits(bool isWaiting)
    {
        if (isWaiting)
        {
            _use.Enter();
            _use.MarkIdle();
        }

        Task run = _use.RunAsync(Count);
        Assert.Equal(1, _runs);
        await run;
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_errand_waits_until_the_reader_rests_or_is_through_and_is_run_once(bool detachedLanes)
    {
        _use.Enter();
        _use.MarkIdle();
        _use.Resume();
        Task run = _use.RunAsync(Count);
        Assert.Equal(0, _runs);
        Assert.False(run.IsCompleted);
        if (detachedLanes)
        {
            _use.MarkIdle();
            Assert.Equal(1, _runs);
            _use.Resume();
        }

        _use.Leave();
        await run.Guarded();
        Assert.Equal(1, _runs);
    }

    [Fact]
    public async Task An_exception_of_a_queued_TLS_action_reaches_its_caller_and_not_the_reader()
    {
        Assert.Throws<IOException>(() => { _ = _use.RunAsync(static () => throw new IOException("at once")); });
        _use.Enter();
        Task late = _use.RunAsync(static () => throw new IOException("late"));
        _use.Leave();
        Assert.Equal("late", (await Assert.ThrowsAsync<IOException>(() => late.Guarded())).Message);
    }

    [Fact]
    public async Task A_reader_that_rests_though_nobody_said_that_it_reads_keeps_nobody_from_an_errand()
    {
        _use.MarkIdle();
        await _use.RunAsync(Count).Guarded();
        _use.Resume();
        await _use.RunAsync(Count).Guarded();
        Assert.Equal(2, _runs);
    }

    [Fact]
    public async Task Behind_one_errand_the_reader_keeps_the_next_waiting_as_it_did_the_first()
    {
        await _use.RunAsync(Count).Guarded();
        _use.Enter();
        Task second = _use.RunAsync(Count);
        Assert.Equal(1, _runs);
        _use.Leave();
        await second.Guarded();
        Assert.Equal(2, _runs);
    }

    [Theory]
    [InlineData(4)]
    [InlineData(20_000)]
    public void An_errand_and_a_reader_at_work_never_meet(int roundsOfOneStream)
    {
        const int Rounds = 20_000;
        int meetings = 0;
        var stream = new ReadStream();
        var isOver = false;
        InParallel(Read, Ask);
        Assert.Equal(0, meetings);

        void Read()
        {
            for (int i = 1; i <= Rounds; i++)
            {
                ReadStream read = stream;
                read.Use.Enter();
                read.Work();
                read.Use.MarkIdle();
                read.Use.Resume();
                read.Work();
                read.Use.Leave();
                if (i % roundsOfOneStream == 0)
                {
                    // The first errand of a stream is the one that finds its reader without a lock.
                    Volatile.Write(ref stream, new ReadStream());
                }
            }

            Volatile.Write(ref isOver, true);
        }

        void Ask()
        {
            int asked = 0;
            while (!Volatile.Read(ref isOver))
            {
                asked++;
                ReadStream read = Volatile.Read(ref stream);
                _ = read.Use.RunAsync(() => Errand(read));
                Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref _runs) == asked, Patience));
            }
        }

        Task Errand(ReadStream read)
        {
            meetings += read.AtWork;
            Thread.SpinWait(20); // So long that the reader, were it not kept, would come to work meanwhile.
            meetings += read.AtWork;
            Volatile.Write(ref _runs, _runs + 1); // Behind the last look, at which the next one may begin.
            return Task.CompletedTask;
        }
    }

    private Task Count()
    {
        _runs++;
        return Task.CompletedTask;
    }

    private sealed class ReadStream
    {
        private int _atWork;

        public TlsShutdownGate Use { get; } = new();

        public int AtWork => Volatile.Read(ref _atWork);

        public void Work()
        {
            Volatile.Write(ref _atWork, 1);
            Thread.SpinWait(5);
            Volatile.Write(ref _atWork, 0);
        }
    }
}
