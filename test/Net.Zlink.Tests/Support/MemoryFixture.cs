namespace Net.Zlink.Tests.Support;

/// <summary>
/// A context without kernel and threads, for protocol tests over <see cref="MemoryTransport"/>: the test moves the bytes, the clock and the
/// shard. When a call returns, all that it caused is over.
/// </summary>
internal sealed class MemoryFixture : ContextFixture
{
    private readonly ShardTurns _turns;

    public MemoryFixture()
        : this(new ManualTimeProvider())
    {
    }

    private MemoryFixture(ManualTimeProvider clock)
        : base(shards: 1, time: clock)
    {
        Clock = clock;
        _turns = Own(new ShardTurns(Context));
    }

    public ManualTimeProvider Clock { get; }

    /// <summary>Runs what the socket's calls left to the shard.</summary>
    public void Settle() => _turns.Run();

    /// <summary>Stops at each timer that is due on the way, and runs what it caused there.</summary>
    public void Advance(TimeSpan by)
    {
        _turns.Run();
        TimeSpan end = Clock.Elapsed + by;
        while (Clock.NextDue is { } due && due <= end)
        {
            AdvanceTo(due);
        }

        AdvanceTo(end);
    }

    /// <summary>The test as a peer that connects.</summary>
    public MemoryPeer Connect(string endpoint)
    {
        MemoryPeer peer = Own(MemoryTransport.Connect(endpoint));
        _turns.Run();
        return peer;
    }

    /// <summary>The bytes arrive in one piece.</summary>
    public void Send(MemoryPeer peer, ReadOnlyMemory<byte> bytes)
    {
        peer.Send(bytes);
        _turns.Run();
    }

    /// <inheritdoc cref="Send(MemoryPeer, ReadOnlyMemory{byte})"/>
    public void Send(MemoryPeer peer, string hex) => Send(peer, Convert.FromHexString(hex));

    /// <summary>Carries what two sockets write to each other until neither writes any more.</summary>
    public void Carry(MemoryPeer one, MemoryPeer other)
    {
        for (_turns.Run(); one.Unread + other.Unread > 0; _turns.Run())
        {
            one.Send(other.ReadAll());
            other.Send(one.ReadAll());
        }
    }

    private void AdvanceTo(TimeSpan time)
    {
        Clock.Advance(time > Clock.Elapsed ? time - Clock.Elapsed : TimeSpan.Zero);
        _turns.Run();
    }
}
