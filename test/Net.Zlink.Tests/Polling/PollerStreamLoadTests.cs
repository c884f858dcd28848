using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Polling;

/// <summary>Polls of STREAM sockets that are busy: nothing is missed, whoever polls and whatever changes meanwhile.</summary>
public sealed class PollerStreamLoadTests : PollerTestBase
{
    [Fact]
    public async Task Each_of_many_messages_is_found_by_a_poll_of_its_own()
    {
        const int Count = 20_000;
        StreamSocket socket = Fixture.Bind(out string endpoint);
        RawPeer peer = await Fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        Poller.Add(socket, PollEvents.In);
        Task sending = peer.SendAsync(Wire.Frames([.. Enumerable.Range(0, Count).Select(BitConverter.GetBytes)]));
        await Task.Factory.StartNew(
            () =>
            {
                for (int i = 0; i < Count; i++)
                {
                    Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
                    AssertNext(socket, i);
                }

                Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
            },
            Guard.Token,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default).WhileItGoesOn(() => socket.GetStatistics().ReceivedMessages);
        await sending.Guarded();
    }

    [Fact]
    public async Task Each_of_many_messages_that_come_one_by_one_ends_a_poll_that_waits()
    {
        const int Count = 5_000;
        StreamSocket socket = Fixture.Bind(out string endpoint);
        RawPeer peer = await Fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        Poller.Add(socket, PollEvents.In);
        for (int i = 0; i < Count; i++)
        {
            // The next message comes only when this one was taken: were its news lost, nothing else would end the wait.
            Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
            await peer.SendFrameAsync(BitConverter.GetBytes(i));
            Assert.Equal(1, await poll.Guarded());
            AssertNext(socket, i);
        }
    }

    [Fact]
    public async Task Items_may_come_and_go_while_polls_wait_and_no_message_is_missed()
    {
        const int Sockets = 4;
        const int Count = 500;
        (StreamSocket Socket, RawPeer Peer)[] pairs = new (StreamSocket, RawPeer)[Sockets];
        for (int i = 0; i < Sockets; i++)
        {
            StreamSocket socket = Fixture.Bind(out string endpoint);
            pairs[i] = (socket, await Fixture.ConnectAsync(endpoint));
            await socket.NextConnectedAsync();
            Poller.Add(socket, PollEvents.In);
        }

        await AssertNothingIsMissedAsync(
            Sockets,
            Count,
            async i =>
            {
                StreamSocket socket = pairs[i % Sockets].Socket;
                Poller.Modify(socket, PollEvents.None);
                Poller.Remove(socket);
                await Task.Yield();
                Poller.Add(socket, i % 2 == 0 ? PollEvents.In : PollEvents.None);
                Poller.Modify(socket, PollEvents.In);
            },
            i => pairs[i].Peer.SendFrameAsync(1),
            static result =>
            {
                bool isTaken = ((StreamSocket)result.Socket).TryReceive(out StreamMessage message);
                message.Dispose();
                return isTaken;
            });
    }

    private static void AssertNext(StreamSocket socket, int number)
    {
        Assert.True(socket.TryReceive(out StreamMessage message));
        using (message)
        {
            Assert.Equal(number, BitConverter.ToInt32(message.Span));
        }
    }
}
