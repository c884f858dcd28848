using System.Buffers.Binary;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

public sealed class FloodTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [SlowInlineData("ipc://*")]
    [InlineData("inproc://flood")]
    public async Task A_blocking_flood_of_64_KB_messages_at_the_byte_limit_never_stalls(string endpoint)
    {
        const int Size = 64 * 1024;
        const int Messages = 3_000; // 196 MB through limits of 1 MB
        await using var fixture = new ContextFixture();
        PairSocket receiver = fixture.Context.CreatePair(new PairOptions { ReceiveByteLimit = 1024 * 1024 });
        PairSocket sender = fixture.Context.CreatePair(new PairOptions { SendByteLimit = 1024 * 1024 });
        sender.Connect(receiver.Bind(endpoint));
        var threads = new TestThreads();
        threads.Start(() =>
        {
            byte[] payload = new byte[Size];
            for (int i = 0; i < Messages; i++)
            {
                BinaryPrimitives.WriteInt32LittleEndian(payload, i);
                sender.Send(payload);
            }
        });
        threads.Start(() =>
        {
            for (int i = 0; i < Messages; i++)
            {
                using Message message = receiver.Receive(Guard.Limit);
                Assert.Equal((Size, i), (message.Span.Length, BinaryPrimitives.ReadInt32LittleEndian(message.Span)));
            }
        });
        await threads.JoinAsync(() => receiver.GetStatistics().DeliveredMessages);
        Assert.Equal((Messages, Messages), (sender.GetStatistics().AcceptedMessages, receiver.GetStatistics().DeliveredMessages));
    }
}
