using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>The inproc names of one socket.</summary>
public sealed class InprocEndpointsTests
{
    // A third of a second. Nothing in between can be held up from outside, so it is a matter of luck: without what is tested here two
    // rounds were lost in six runs.
    private static readonly int Rounds = SlowTests.Rounds(1_000, all: 5_000);

    [Fact]
    public async Task A_name_that_one_thread_unbinds_and_another_binds_anew_is_known_to_be_bound_and_free_when_the_socket_has_gone()
    {
        const string Name = "inproc://come and go";
        await using var fixture = new ContextFixture();
        DealerSocket socket = fixture.Context.CreateDealer();
        ZmpSettings settings = socket.Options.Snapshot(ZmpSocketType.Dealer, alias: null);
        socket.Bind(Name);
        using var both = new Barrier(2);
        Task binds = Task.Factory.StartNew(
            () =>
            {
                for (int round = 0; round < Rounds; round++)
                {
                    both.SignalAndWait(Guard.Token);
                    while (socket.ZmpEndpoints.Bind(Name, settings, out _).Code != ZlinkError.None)
                    {
                        // until it is free
                    }

                    both.SignalAndWait(Guard.Token);
                }
            },
            Guard.Token,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        Task looks = Task.Factory.StartNew(
            () =>
            {
                while (!binds.IsCompleted)
                {
                    _ = socket.ZmpEndpoints.All.Length; // So that both meet somebody in the middle of what they do.
                }
            },
            Guard.Token,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        int lost = 0;
        for (int round = 0; round < Rounds; round++)
        {
            both.SignalAndWait(Guard.Token);
            socket.ZmpEndpoints.Remove(Name, TimeSpan.Zero);
            both.SignalAndWait(Guard.Token);
            lost += socket.BoundEndpoints.Count == 1 ? 0 : 1;
        }

        await binds.Guarded();
        await looks.Guarded();
        Assert.Equal(0, lost);
        socket.Dispose();
        fixture.Context.CreateDealer().Bind(Name);
    }
}
