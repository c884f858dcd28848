using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Xunit;

namespace Net.Zlink.Tests;

/// <summary>The sockets that a context has.</summary>
public sealed class ContextSocketsTests
{
    [Fact]
    public void A_socket_among_thousands_is_removed_without_comparing_the_others()
    {
        const int Sockets = 5_000;
        var sockets = new ContextSockets(Sockets);
        FakeSocket[] all = [.. Enumerable.Range(0, Sockets).Select(static number => new FakeSocket(number))];
        Array.ForEach(all, sockets.Add);
        Assert.Equal(Sockets, sockets.Count);
        Assert.Equal(ZlinkError.TooManySockets, Assert.Throws<ZlinkException>(() => sockets.Add(new FakeSocket(Sockets))).Error);
        FakeSocket.Compared = 0;
        foreach (FakeSocket socket in all.Reverse())
        {
            sockets.Forget(socket);
        }

        Assert.Equal(0, sockets.Count);
        Assert.InRange(FakeSocket.Compared, 0, 3 * Sockets);
        Assert.All(all, static socket => Assert.Equal(1, socket.Entered));
    }

    [Fact]
    public void Undelivered_messages_of_a_socket_are_reported_once_however_often_it_is_removed()
    {
        var sockets = new ContextSockets(1);
        var socket = new FakeSocket(1);
        sockets.Add(socket);
        sockets.Forget(socket);
        sockets.Forget(socket);
        Assert.Equal(1, socket.Entered);
        Assert.Empty(sockets.OpenSockets);
    }

    /// <summary>Counts how often it is compared with another one.</summary>
    private sealed class FakeSocket(int number) : IContextSocket, IEquatable<FakeSocket>
    {
        [ThreadStatic]
        private static int t_compared;

        public static int Compared
        {
            get => t_compared;
            set => t_compared = value;
        }

        /// <summary>How often its counters were added to the report, which asks whether it is over.</summary>
        public int Entered { get; private set; }

        public Task AllClosed
        {
            get
            {
                Entered++;
                return Task.CompletedTask;
            }
        }

        public SocketCounters Counters { get; } = new();

        public int LinkCount => 0;

        public bool IsClosed => false;

        public SocketMonitors Monitors { get; } = new();

        public void BeginClose(DisconnectReason reason)
        {
        }

        public void Abort()
        {
        }

        public bool Equals(FakeSocket? other)
        {
            t_compared++;
            return ReferenceEquals(this, other);
        }

        public override bool Equals(object? obj) => Equals(obj as FakeSocket);

        public override int GetHashCode() => number;
    }
}
