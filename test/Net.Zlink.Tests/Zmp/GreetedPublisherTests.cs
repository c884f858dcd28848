using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A publisher that comes while a subscriber's topics change hears of each only what follows on what it was told before.</summary>
public sealed class GreetedPublisherTests
{
    // Without the care that this asks for, one connection in three met it.
    private static readonly int Connections = SlowTests.Rounds(20, all: 100);

    private const int Looked = 8;

    [Theory]
    [InlineData("SUB")]
    [InlineData("XSUB")]
    public async Task A_topic_is_cancelled_only_where_it_was_told(string type)
    {
        await using var fixture = new ContextFixture();
        (ZmpSocket socket, Action<byte[]> subscribe, Action<byte[]> unsubscribe) = Make(fixture.Context, type);
        string endpoint = socket.Bind("tcp://127.0.0.1:0");
        using var over = new CancellationTokenSource();
        Task changing = Task.Factory.StartNew(
            () =>
            {
                for (int i = 0; !over.IsCancellationRequested; i++)
                {
                    byte[] topic = [(byte)(i % 3)];
                    subscribe(topic);
                    unsubscribe(topic);
                }
            },
            Guard.Token,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        try
        {
            for (int i = 0; i < Connections; i++)
            {
                using RawPeer publisher = await RawPeer.ConnectAsync(endpoint);
                await publisher.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Pub));
                await AssertFollowsAsync(publisher);
            }
        }
        finally
        {
            await over.CancelAsync();
            await changing.Guarded();
        }
    }

    private static (ZmpSocket Socket, Action<byte[]> Subscribe, Action<byte[]> Unsubscribe) Make(ZlinkContext context, string type)
    {
        if (type is "SUB")
        {
            SubSocket sub = context.CreateSub();
            return (sub, topic => sub.Subscribe(topic), topic => sub.Unsubscribe(topic));
        }

        XSubSocket xsub = context.CreateXSub();
        return (xsub, topic => Send(1, topic), topic => Send(0, topic));

        void Send(byte kind, byte[] topic)
        {
            using var message = new MessageBuilder();
            message.Add([kind, .. topic]);

            xsub.TrySend(message); // Data may meet a mark; the topic is this side's all the same, and its cancel follows.
        }
    }

    /// <summary>Topics come as control frames, or as the parts that the application sent.</summary>
    private static async Task AssertFollowsAsync(RawPeer publisher)
    {
        HashSet<byte> told = [];
        for (int frames = 0; frames < Looked; frames++)
        {
            byte[] header = await publisher.ReadAsync(ZmpFrame.HeaderSize);
            byte[] body = await publisher.ReadAsync(ZmpFrame.ReadLength(header));
            var flags = (ZmpFlags)header[2];
            bool isControl = flags is ZmpFlags.Subscribe or ZmpFlags.Cancel;
            if (!isControl && (body.Length != 2 || body[0] > 1))
            {
                continue; // HELLO, READY, data.
            }

            byte topic = body[^1];
            if (isControl ? flags == ZmpFlags.Subscribe : body[0] == 1)
            {
                told.Add(topic);
            }
            else
            {
                Assert.True(told.Remove(topic), $"a cancel of {topic}, of which this publisher had heard nothing");
            }
        }
    }
}
