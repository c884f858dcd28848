using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Polling;

public sealed class PollerPlainSocketTests : PollerTestBase
{
    [Fact]
    public async Task A_plain_stream_is_reported_until_its_data_is_read_and_keeps_it()
    {
        using var pair = new TcpPair();
        Poller.Add(pair.Here, PollEvents.In, userState: 7);
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Assert.False(poll.IsCompleted);

        pair.There.Send("abc"u8);

        Assert.Equal(1, await poll.Guarded());
        Assert.Equal(new PollResult(Socket: null, pair.Here, PollEvents.In, 7), Results[0]);
        Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
        Assert.Equal(3, pair.Here.Receive(new byte[8]));
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
    }

    [Fact]
    public async Task A_datagram_is_not_consumed_by_a_poll()
    {
        using var receiver = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        receiver.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        using var sender = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        Poller.Add(receiver, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();

        sender.SendTo("hello"u8, receiver.LocalEndPoint!);

        Assert.Equal(1, await poll.Guarded());
        Assert.Equal(5, receiver.Receive(new byte[8]));
    }

    [Fact]
    public async Task A_listener_is_ready_when_there_is_a_connection_to_accept()
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        Poller.Add(listener, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        using var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

        await client.ConnectAsync(listener.LocalEndPoint!, Guard.Token);

        Assert.Equal(1, await poll.Guarded());
        using Socket accepted = await listener.AcceptAsync(Guard.Token);
    }

    [Fact]
    public async Task A_plain_sender_is_ready_again_when_its_peer_has_read()
    {
        using var pair = new TcpPair();
        pair.Here.Blocking = false;
        Poller.Add(pair.Here, PollEvents.Out);
        Assert.Equal(1, Poller.Poll(Results, TimeSpan.Zero));
        byte[] bytes = new byte[64 * 1024];
        long sent = 0;
        while (Poller.Poll(Results, TimeSpan.Zero) > 0)
        {
            int count = pair.Here.Send(bytes, SocketFlags.None, out SocketError error);
            sent += error == SocketError.Success ? count : 0;
        }

        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        while (sent > 0)
        {
            sent -= await pair.There.ReceiveAsync(bytes, Guard.Token).Guarded();
        }

        Assert.Equal(1, await poll.Guarded());
        Assert.Equal(PollEvents.Out, Results[0].Events);
    }

    [Fact]
    public async Task The_end_of_a_plain_stream_is_something_to_receive()
    {
        using var pair = new TcpPair();
        Poller.Add(pair.Here, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();

        pair.There.Shutdown(SocketShutdown.Send);

        Assert.Equal(1, await poll.Guarded());
        Assert.Equal(PollEvents.In, Results[0].Events);
        Assert.Equal(0, pair.Here.Receive(new byte[1]));
    }

    [Fact]
    public async Task An_error_is_reported_though_only_data_was_asked_for()
    {
        using var pair = new TcpPair();
        Poller.Add(pair.Here, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();

        pair.There.LingerState = new LingerOption(enable: true, seconds: 0);
        pair.There.Dispose();

        Assert.Equal(1, await poll.Guarded());
        Assert.Equal(SocketError.ConnectionReset, Assert.Throws<SocketException>(() => pair.Here.Receive(new byte[1])).SocketErrorCode);
    }

    [Theory]
    [InlineData("stream")]
    [InlineData("datagram")]
    [InlineData("listener")]
    public async Task A_disposed_plain_socket_ends_the_wait(string kind)
    {
        using var pair = new TcpPair();
        Socket socket = kind switch
        {
            "stream" => pair.Here,
            "datagram" => new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp),
            _ => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp),
        };
        if (!socket.Connected)
        {
            socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        }

        if (string.Equals(kind, "listener", StringComparison.Ordinal))
        {
            socket.Listen();
        }

        Poller.Add(socket, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();

        await Task.Run(socket.Dispose, Guard.Token).Guarded();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => poll.Guarded());
        Assert.True(Poller.Remove(socket));
    }

    [Fact]
    public async Task A_removed_plain_socket_can_be_disposed_while_others_are_waited_for()
    {
        using var pair = new TcpPair();
        using var other = new TcpPair();
        Poller.Add(pair.Here, PollEvents.In);
        Poller.Add(other.Here, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();

        Assert.True(Poller.Remove(pair.Here));
        await Task.Run(pair.Here.Dispose, Guard.Token).Guarded();
        Assert.False(poll.IsCompleted);
        other.There.Send("x"u8);

        Assert.Equal(1, await poll.Guarded());
        Assert.Same(other.Here, Results[0].PlainSocket);
    }

    [Fact]
    public void Plain_and_ZMP_sockets_are_waited_for_together_by_a_blocked_thread()
    {
        using var pair = new TcpPair();
        DealerSocket receiver = Context.CreateDealer();
        DealerSocket sender = Context.CreateDealer();
        sender.Connect(receiver.Bind("tcp://127.0.0.1:0"));
        Poller.Add(pair.Here, PollEvents.In);
        Poller.Add(receiver, PollEvents.In);
        for (int i = 0; i < 200; i++)
        {
            bool plain = i % 2 == 0;
            var sending = new Thread(() =>
            {
                if (plain)
                {
                    pair.There.Send("x"u8);
                }
                else
                {
                    sender.Send("x"u8);
                }
            });
            sending.Start();
            Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
            Assert.Equal(plain, Results[0].PlainSocket is not null);
            if (plain)
            {
                Assert.Equal(1, pair.Here.Receive(new byte[8]));
            }
            else
            {
                Assert.True(receiver.TryReceive(out Message message));
                message.Dispose();
            }

            sending.JoinGuarded();
        }
    }

    [Fact]
    public void A_plain_socket_that_is_taken_out_and_disposed_at_once_closes_in_order()
    {
        byte[] bytes = new byte[8];
        for (int i = 0; i < 300; i++)
        {
            using var pair = new TcpPair();
            Poller.Add(pair.Here, PollEvents.In);
            Assert.Equal(0, Poller.Poll(Results, TimeSpan.FromMilliseconds(2)));
            pair.Here.Send("last"u8);

            Assert.True(Poller.Remove(pair.Here));
            pair.Here.Dispose();

            Assert.Equal(4, pair.There.Receive(bytes));
            Assert.Equal(0, pair.There.Receive(bytes));
        }
    }

    [Fact]
    public async Task A_plain_socket_that_is_taken_out_while_others_poll_closes_in_order()
    {
        using var poller = new Poller();
        using var stays = new TcpPair();
        poller.Add(stays.Here, PollEvents.In);
        Task<int> polling = Task.Factory.StartNew(
            () => poller.Poll(new PollResult[1], Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        byte[] bytes = new byte[8];
        for (int i = 0; i < 300; i++)
        {
            using var pair = new TcpPair();
            poller.Add(pair.Here, PollEvents.In);
            pair.Here.Send("last"u8);

            Assert.True(poller.Remove(pair.Here));
            pair.Here.Dispose();

            Assert.Equal(4, pair.There.Receive(bytes));
            Assert.Equal(0, pair.There.Receive(bytes));
        }

        stays.There.Send("x"u8);
        Assert.Equal(1, await polling.Guarded());
    }

    /// <summary>Two connected tcp sockets.</summary>
    private sealed class TcpPair : IDisposable
    {
        public TcpPair()
        {
            using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            listener.Listen();
            Here.Connect(listener.LocalEndPoint!);
            There = listener.Accept();
        }

        public Socket Here { get; } = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

        public Socket There { get; }

        public void Dispose()
        {
            Here.Dispose();
            There.Dispose();
        }
    }
}
