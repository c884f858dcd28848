using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>
/// As the native test_ctx_destroy: the end of a context. A context cannot be null here, so those cases have no counterpart. ETERM is what
/// the sockets say that were there;
/// one that was closed, and a context that is to make another one, throw ObjectDisposedException (docs/native-tests.md).
/// </summary>
public sealed class CtxDestroyTests
{
    [Fact]
    public async Task A_context_ends_after_its_socket_was_closed()
    {
        var context = new ZlinkContext();
        context.CreateDealer().Dispose();
        Assert.True((await context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded()).Drained);
    }

    [Fact]
    public async Task A_shutdown_wakes_a_receive_that_blocks_in_another_thread_with_ETERM()
    {
        await using var fixture = new StreamFixture();
        DealerSocket socket = fixture.Context.CreateDealer();
        ZlinkError error = ZlinkError.None;
        using var entered = new ManualResetEventSlim();
        var thread = new Thread(() =>
        {
            entered.Set();
            error = Assert.Throws<ZlinkException>(() => socket.Receive(Guard.Limit)).Error;
        });
        thread.Start();
        Assert.True(entered.Wait(Guard.Limit, Guard.Token));
        await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();
        thread.JoinGuarded();
        Assert.Equal("ETERM", error.ToNativeName());
    }

    [Fact]
    public async Task A_shutdown_wakes_a_send_that_waits_with_ETERM()
    {
        await using var fixture = new StreamFixture();
        DealerSocket socket = fixture.Context.CreateDealer();
        Task sending = socket.SendAsync("to nobody"u8.ToArray(), Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();
        ZlinkException failure = await Assert.ThrowsAsync<ZlinkException>(() => sending.Guarded());
        Assert.Equal("ETERM", failure.Error.ToNativeName());
        SocketWords.Fails("ETERM", () => socket.Receive(TimeSpan.Zero));
        SocketWords.Fails("ETERM", () => socket.Send("late"u8));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_context_that_is_shut_down_makes_no_socket_as_a_disposed_object(bool hadSocket)
    {
        await using var fixture = new StreamFixture();
        if (hadSocket)
        {
            fixture.Context.CreateDealer().Dispose();
        }

        await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();
        Assert.Throws<ObjectDisposedException>(() => fixture.Context.CreateDealer()); // natively ETERM
        Assert.Throws<ObjectDisposedException>(() => fixture.Context.CreateStream());
    }

    [Fact]
    public async Task After_a_shutdown_open_sockets_say_ETERM_and_closed_ones_that_they_are_disposed()
    {
        await using var fixture = new StreamFixture();
        DealerSocket open = fixture.Context.CreateDealer();
        DealerSocket closed = fixture.Context.CreateDealer();
        closed.Dispose();
        await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();
        SocketWords.Fails("ETERM", () => open.Connect(Link.Any(Link.Inproc)));
        SocketWords.Fails("ETERM", () => open.TryReceive(out _));
        Assert.Throws<ObjectDisposedException>(() => closed.TryReceive(out _)); // natively ENOTSOCK
        open.Dispose();
        SocketWords.Fails("ETERM", () => open.TryReceive(out _)); // The context was first.
    }

    [Fact]
    public async Task A_connect_to_an_inproc_name_that_nobody_bound_does_not_hold_the_end_up()
    {
        await using var fixture = new StreamFixture();
        DealerSocket socket = fixture.Context.CreateDealer();
        socket.Connect(Link.Any(Link.Inproc));
        socket.Say("to nobody");
        Assert.True((await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded()).Drained);
    }
}
