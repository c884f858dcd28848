using System.Diagnostics;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A binder that goes and comes back at the same endpoint.</summary>
public sealed class RebindTests
{
    [Theory]
    [InlineData("tcp")]
    [InlineData("ipc")]
    public async Task A_connected_socket_finds_each_binder_that_comes_back_at_once(string transport)
    {
        const int Rounds = 200;
        await using var fixture = new ContextFixture(shutdownTimeout: TimeSpan.FromSeconds(1));
        string endpoint = ModelEndpoint.Of(transport);
        PairSocket connecter = fixture.Context.CreatePair(
            new PairOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1), Linger = TimeSpan.Zero });
        connecter.Connect(endpoint);
        using EventReader there = connecter.ReadEvents();
        for (int round = 0; round < Rounds; round++)
        {
            PairSocket binder = fixture.Context.CreatePair();
            using EventReader here = binder.ReadEvents();
            binder.Bind(endpoint);

            // It may go with the last connection, and fills what that one has to throw away.
            connecter.TrySend("x"u8);
            using var patience = new CancellationTokenSource(Guard.Limit / 2);
            try
            {
                await binder.SendAsync(BitConverter.GetBytes(round), patience.Token);
                using Message message = await connecter.ReceiveAsync(patience.Token);
                Assert.Equal(round, BitConverter.ToInt32(message.Span));
            }
            catch (OperationCanceledException)
            {
                Assert.Fail($"round {round}\n{connecter.Describe()}\n{string.Join('\n', Events(there))}\n"
                    + $"{binder.Describe()}\n{string.Join('\n', Events(here))}");
            }

            binder.Dispose();
        }
    }

    /// <summary>A child has a copy of every descriptor until it runs its own program. With one process after the other being started, 7 of
    /// 100 binds to a port that had just been closed failed for that.</summary>
    [Fact]
    public async Task An_address_is_free_again_at_once_also_while_child_processes_are_being_started()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "elsewhere a listener cannot be shut down before it is closed");
        const int Rounds = 300;
        await using var fixture = new ContextFixture();
        using var done = new CancellationTokenSource();
        Task starting = Task.Factory.StartNew(
            () =>
            {
                while (!done.IsCancellationRequested)
                {
                    using Process child = Process.Start("/bin/true");
                    child.WaitForExit();
                }
            },
            CancellationToken.None,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        PairSocket binder = fixture.Context.CreatePair();
        string endpoint = binder.Bind("tcp://127.0.0.1:0");
        for (int round = 0; round < Rounds; round++)
        {
            binder.Unbind(endpoint);
            binder.Bind(endpoint);
        }

        await done.CancelAsync();
        await starting.Guarded();
    }

    private static IEnumerable<string> Events(EventReader monitor)
    {
        List<string> all = [];
        while (monitor.TryRead(out SocketEvent e))
        {
            all.Add($"{e.Type} {e.Value} {e.Detail}");
        }

        return all.TakeLast(12);
    }
}
