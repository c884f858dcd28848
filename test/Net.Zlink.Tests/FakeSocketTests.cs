using System.Runtime.CompilerServices;
using System.Text;
using System.Threading.Channels;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests;

/// <summary>Code that takes the interfaces is tested without a socket.</summary>
public sealed class FakeSocketTests
{
    [Fact]
    public async Task Code_on_the_interfaces_works_with_fakes_and_with_sockets()
    {
        using var builder = new MessageBuilder();
        var source = new FakeReceiver(builder.Add("a").Add("b").ToMessage(), builder.Add("c").ToMessage());
        var target = new FakeSender();

        await UppercaseAsync(source, target);

        Assert.Equal(["A", "B", "C"], target.Sent);
        target.Send("d");
        await target.SendAsync("e", Guard.Token);
        Assert.True(target.TrySend("f"));
        Assert.Equal(["A", "B", "C", "d", "e", "f"], target.Sent);

        await using var context = new ZlinkContext();
        PairSocket one = context.CreatePair();
        PairSocket other = context.CreatePair();
        one.Bind("inproc://fakes");
        other.Connect("inproc://fakes");
        one.Send("x");
        one.Send("y", TimeSpan.FromSeconds(1));
        Assert.True(one.TrySend("z"));
        one.Dispose();
        target.Sent.Clear();
        Task relay = UppercaseAsync(other, target);
        await Guard.UntilAsync(() => target.Sent.Count == 3, "the three texts have come");
        other.Dispose();
        await relay.Guarded();
        Assert.Equal(["X", "Y", "Z"], target.Sent);
    }

    [Fact]
    public void A_message_made_without_a_network_has_its_parts_and_no_sender()
    {
        var pool = new BufferPool(new BufferPoolOptions { ClassPolicies = BufferPoolOptions.ServerPolicies, LeakCheck = true });
        using (var builder = new MessageBuilder(pool))
        {
            Assert.Throws<InvalidOperationException>(() => builder.ToMessage());
            var large = new byte[100_000];
            large[99_999] = 7;
            Message message = builder.Add("head").Add(pool.Rent(large.Length), large.Length).Add([]).ToMessage();
            Assert.Equal(0, builder.Count);
            Assert.Equal((3, "head", 100_000, 0), (message.PartCount, message.GetString(), message[1].Length, message[2].Length));
            Assert.True(message.RoutingId.IsEmpty);
            Assert.Equal("", message.RemoteAddress);
            using (Message copy = message.Copy())
            {
                message.Dispose();
                Assert.Equal("head", copy.GetString());
            }

            Assert.Throws<ObjectDisposedException>(() => message.Memory);
            builder.Add("again").ToMessage().Dispose();
        }

        Assert.Empty(pool.GetOutstanding());
        Assert.Throws<ObjectDisposedException>(() =>
        {
            var disposed = new MessageBuilder();
            disposed.Dispose();
            disposed.ToMessage();
        });
    }

    [Fact]
    public async Task A_made_message_can_be_sent()
    {
        await using var context = new ZlinkContext();
        PairSocket one = context.CreatePair();
        PairSocket other = context.CreatePair();
        one.Bind("inproc://made");
        other.Connect("inproc://made");
        using var builder = new MessageBuilder();
        await one.SendAsync(builder.Add("a").Add("b").ToMessage(), Guard.Token).AsTask().Guarded();
        using Message received = await other.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(("a", "b"), (received.GetString(), received.GetString(1)));
    }

    [Fact]
    public void Stream_frames_can_be_made_for_a_test_of_a_handler()
    {
        StreamFrames frames = StreamFrames.Create("one"u8.ToArray(), ReadOnlyMemory<byte>.Empty, "three"u8.ToArray());
        List<string> payloads = [];
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            payloads.Add(Encoding.ASCII.GetString(payload.Span));
        }

        Assert.Equal(["one", "", "three"], payloads);
        Assert.Equal((3, 8L), (frames.Count, frames.PayloadBytes));
        Assert.Throws<ArgumentException>(() => StreamFrames.Create());
    }

    [Fact]
    public async Task A_stream_handler_can_be_tested_with_a_made_peer()
    {
        List<string> sent = [];
        StreamPeer peer = StreamPeer.Create(
            payload =>
            {
                sent.Add(Encoding.ASCII.GetString(payload.Span));
                return sent.Count < 4 ? SendFailure.None : SendFailure.Full;
            },
            id: 7);

        await new Reply().OnReceivedAsync(peer, StreamFrames.Create("one"u8.ToArray(), "two"u8.ToArray()));
        await peer.SendAsync("three"u8.ToArray(), Guard.Token);
        Assert.False(peer.TrySend("four"u8));
        peer.Disconnect(abort: true);

        Assert.Equal(["one", "two", "three", "four"], sent);
        Assert.Equal((7u, 0L), (peer.Id, peer.GetStatistics().AcceptedMessages));
        Assert.Equal("peer 7 (no connection)", peer.ToString());
        Assert.Null(peer.RemoteEndPoint ?? peer.LocalEndPoint);
        Assert.Null(peer.WebSocketRequest);
    }

    [Fact]
    public async Task A_made_peer_has_the_errors_of_a_real_one()
    {
        List<int> sent = [];
        StreamPeer peer = StreamPeer.Create(payload =>
        {
            sent.Add(payload.Length);
            return sent.Count < 2 ? SendFailure.None : SendFailure.Full;
        });
        ReadOnlyMemory<byte>[] payloads = [new byte[1], new byte[2], new byte[3]];

        Assert.Equal(1, peer.SendMany(payloads));
        Assert.Equal(SendFailure.Full, peer.TrySend(payloads[0].Span).Reason);
        Assert.Equal(0, peer.SendMany(StreamFrames.Create(payloads)));
        await Assert.ThrowsAsync<TimeoutException>(async () => await peer.SendManyAsync(payloads, Guard.Token));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await peer.SendAsync(payloads[0], new CancellationToken(true)));
        peer.Disconnect();
        peer.Disconnect();

        int calls = sent.Count;
        Assert.Equal((SendFailure.NoPeer, calls), (peer.TrySend("late"u8).Reason, sent.Count));
    }

    private sealed class Reply : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            Assert.Equal(2, peer.SendMany(frames));
            return default;
        }
    }

    private static async Task UppercaseAsync(IMessageReceiver source, IMessageSender target)
    {
        await foreach (Message message in source.ReceiveAllAsync(Guard.Token))
        {
            using (message)
            {
                for (int i = 0; i < message.PartCount; i++)
                {
                    await target.SendAsync(message.GetString(i).ToUpperInvariant(), Guard.Token);
                }
            }
        }
    }

    private sealed class FakeReceiver : IMessageReceiver
    {
        private readonly Channel<Message> _messages = Channel.CreateUnbounded<Message>();

        public FakeReceiver(params ReadOnlySpan<Message> messages)
        {
            foreach (Message message in messages)
            {
                _messages.Writer.TryWrite(message);
            }

            _messages.Writer.Complete();
        }

        public bool TryReceive(out Message message, TimeSpan timeout = default) => _messages.Reader.TryRead(out message);

        public Message Receive(TimeSpan? timeout = null) => TryReceive(out Message message) ? message : throw new TimeoutException();

        public ValueTask<Message> ReceiveAsync(CancellationToken cancellationToken = default) =>
            _messages.Reader.ReadAsync(cancellationToken);

        public async IAsyncEnumerable<Message> ReceiveAllAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
        {
            await foreach (Message message in _messages.Reader.ReadAllAsync(cancellationToken))
            {
                yield return message;
            }
        }
    }

    private sealed class FakeSender : IMessageSender
    {
        public List<string> Sent { get; } = [];

        public SendResult TrySend(ReadOnlySpan<byte> payload)
        {
            Sent.Add(Encoding.UTF8.GetString(payload));
            return SendResult.Sent;
        }

        public SendResult TrySend(MessageBuilder message)
        {
            using Message made = message.ToMessage();
            return TrySend(made.Span);
        }

        public SendResult TrySend(in Message message)
        {
            TrySend(message.Span);
            message.Dispose();
            return SendResult.Sent;
        }

        public void Send(ReadOnlySpan<byte> payload, TimeSpan? timeout = null) => TrySend(payload);

        public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default)
        {
            TrySend(payload.Span);
            return ValueTask.CompletedTask;
        }

        public ValueTask SendAsync(MessageBuilder message, CancellationToken cancellationToken = default)
        {
            TrySend(message);
            return ValueTask.CompletedTask;
        }

        public ValueTask SendAsync(in Message message, CancellationToken cancellationToken = default)
        {
            TrySend(in message);
            return ValueTask.CompletedTask;
        }
    }
}
