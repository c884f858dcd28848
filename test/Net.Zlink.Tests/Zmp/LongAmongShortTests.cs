using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Over inproc: a long message, which goes by reference, among more short ones than a fresh lease has places for.</summary>
public sealed class LongAmongShortTests
{
    private const int Short = 40;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Long_messages_among_short_ones_are_received_or_dropped_and_release_all_memory(bool isReceived)
    {
        await using var fixture = new ContextFixture();
        PairSocket receiver = fixture.Context.CreatePair();
        receiver.Bind("inproc://long");

        // Leases that have grown before hide what is looked for: so there are some at once, more than are likely to be spare.
        List<PairSocket> senders = [];
        for (int i = 0; i < 20; i++)
        {
            PairSocket sender = fixture.Context.CreatePair();
            PairSocket other = i == 0 ? receiver : fixture.Context.CreatePair();
            sender.Connect(i == 0 ? "inproc://long" : other.Bind($"inproc://long-{i}"));
            sender.Send("short"u8);
            sender.Send(new byte[20_000]);
            for (int n = 0; n < Short; n++)
            {
                sender.Send("short"u8);
            }

            senders.Add(other);
        }

        foreach (PairSocket each in senders)
        {
            for (int n = 0; isReceived && n < Short + 2; n++)
            {
                using Message message = await each.ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal(n == 1 ? 20_000 : 5, message.ByteCount);
            }

            each.Dispose();
        }
    }
}
