using Net.Zlink.Sockets.Endpoints;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>When a closed socket is over.</summary>
public sealed class CloseTrackerTests
{
    private readonly CloseTracker _parts = new();

    [Fact]
    public void A_socket_is_over_when_it_was_closed_and_its_last_part_has_ended()
    {
        Assert.True(_parts.TryEnter());
        Assert.True(_parts.TryEnter());
        _parts.Leave();
        Assert.True(_parts.TryClose());
        Assert.True(_parts.IsClosed);
        Assert.False(_parts.TryEnter());
        _parts.Reenter(); // What is there already may go on as something else.
        _parts.Leave();
        _parts.Leave();
        Assert.False(_parts.AllClosed.IsCompleted); // The call that closes it is not through.
        _parts.Leave();
        Assert.True(_parts.AllClosed.IsCompleted);
    }

    [Fact]
    public void A_close_tracker_closes_once_and_completes_only_after_that()
    {
        Assert.True(_parts.TryEnter());
        _parts.Leave();
        Assert.False(_parts.IsClosed);
        Assert.False(_parts.AllClosed.IsCompleted);
        Assert.True(_parts.TryClose());
        Assert.False(_parts.TryClose());
        _parts.Leave();
        Assert.True(_parts.AllClosed.IsCompleted);
    }
}
